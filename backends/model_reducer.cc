#include "backends/model_reducer.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <tuple>
#include <unordered_map>

#include "backends/compression.h"

namespace trainyard {
namespace {

using Compression = ReducerOptions::Compression;

std::unique_ptr<c10d::Reducer> MakeReducer(
    const ProcessGroup& group, const std::vector<at::Tensor>& parameters,
    std::unordered_map<size_t, std::string> names,
    const ReducerOptions& options) {
  const std::vector<bool> sparse(parameters.size(), false);
  std::vector<std::vector<size_t>> buckets;
  std::vector<size_t> limits;
  std::tie(buckets, limits) = c10d::compute_bucket_assignment_by_size(
      parameters, {options.first_bucket_bytes, options.bucket_bytes}, sparse);
  // The buckets are in the order of the forward pass; the backward pass
  // computes gradients in the reverse order.
  std::reverse(buckets.begin(), buckets.end());
  auto reducer = std::make_unique<c10d::Reducer>(
      parameters, buckets, group.training(), sparse,
      static_cast<int64_t>(options.bucket_bytes),
      options.find_unused_parameters, /*gradient_as_bucket_view=*/true,
      std::move(names), static_cast<int64_t>(options.first_bucket_bytes),
      /*skip_all_reduce_unused_params=*/false, /*use_python_reducer=*/false,
      std::vector<int64_t>());
  if (options.static_graph) reducer->set_static_graph();
  if (options.compression == Compression::kFp16) {
    reducer->register_builtin_comm_hook(
        c10d::BuiltinCommHookType::FP16_COMPRESS);
  } else if (options.compression == Compression::kBf16) {
    reducer->register_comm_hook(MakeBf16Hook(group.training()));
  }
  return reducer;
}

}  // namespace

ModelReducer::ModelReducer(ProcessGroup& group, const ModelTensors& model,
                           const ReducerOptions& options)
    : group_(group), options_(options), learns_graph_(options.static_graph) {
  TORCH_CHECK_VALUE(options.bucket_bytes > 0 && options.first_bucket_bytes > 0,
                    "ModelReducer: bucket_bytes is ", options.bucket_bytes,
                    ", first_bucket_bytes ", options.first_bucket_bytes);
  std::unordered_map<size_t, std::string> names;
  for (const NamedTensor& parameter : model.parameters) {
    all_parameters_.push_back(parameter.tensor);
    required_.push_back(parameter.tensor.requires_grad());
    if (!required_.back()) continue;
    names[parameters_.size()] = model.name + "." + parameter.name;
    parameters_.push_back(parameter.tensor);
  }
  if (!parameters_.empty()) {
    group_.Guard("preparing the gradients", [&] {
      reducer_ = MakeReducer(group, parameters_, std::move(names), options_);
    });
  }
}

ModelReducer::~ModelReducer() {
  if (reducer_ != nullptr) reducer_->remove_autograd_hooks();
}

bool ModelReducer::stale() const {
  for (size_t i = 0; i < all_parameters_.size(); ++i) {
    if (all_parameters_[i].requires_grad() != required_[i]) return true;
  }
  return false;
}

void ModelReducer::BeforeBackward(const at::Tensor& loss) {
  if (reducer_ == nullptr) return;
  reducer_->prepare_for_forward();
  if (options_.rebuild_buckets) reducer_->rebuild_buckets();  // once
  // The loss is read only to search for unused parameters.
  reducer_->prepare_for_backward({loss});
}

void ModelReducer::AfterBackward() {
  if (reducer_ == nullptr) return;
  if (learns_graph_) {
    // The first pass exchanges nothing while it runs; exchange it now.
    learns_graph_ = false;
    reducer_->delay_all_reduce();
  }
  // Throws if a parameter has no gradient and the options do not allow that.
  reducer_->check_finalized();
}

}  // namespace trainyard
