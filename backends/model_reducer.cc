#include "backends/model_reducer.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <tuple>
#include <unordered_map>

#include "backends/compression.h"
#include "backends/shared_reducer.h"

namespace trainyard {
namespace {

using Compression = ReducerOptions::Compression;

// Memory has no latency to hide: smaller buckets start earlier.
constexpr size_t kSharedBucket = size_t{4} << 20;

// Whether a SharedReducer has all that these options ask for. Its buckets can
// be exchanged in any order.
bool NeedsNothingSpecial(const ReducerOptions& options) {
  return !options.find_unused_parameters && !options.static_graph &&
         options.compression == Compression::kNone;
}

std::unique_ptr<c10d::Reducer> MakeReducer(
    const ProcessGroup& group, const std::vector<at::Tensor>& parameters,
    const std::vector<std::string>& names, const ReducerOptions& options) {
  std::unordered_map<size_t, std::string> names_by_index;
  for (size_t i = 0; i < names.size(); ++i) names_by_index[i] = names[i];
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
      std::move(names_by_index),
      static_cast<int64_t>(options.first_bucket_bytes),
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
  std::vector<std::string> names;
  for (const NamedTensor& parameter : model.parameters) {
    all_parameters_.push_back(parameter.tensor);
    required_.push_back(parameter.tensor.requires_grad());
    if (!required_.back()) continue;
    names.push_back(model.name + "." + parameter.name);
    parameters_.push_back(parameter.tensor);
  }
  if (parameters_.empty()) return;
  group_.Guard("preparing the gradients", [&] {
    if (NeedsNothingSpecial(options_)) {
      shared_ =
          MakeSharedReducer(group, parameters_, names,
                            std::min(options_.bucket_bytes, kSharedBucket));
    }
    if (!shared_) reducer_ = MakeReducer(group, parameters_, names, options_);
  });
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
  if (shared_ != nullptr) return shared_->BeforeBackward();
  if (reducer_ == nullptr) return;
  reducer_->prepare_for_forward();
  if (options_.rebuild_buckets) reducer_->rebuild_buckets();  // once
  // The loss is read only to search for unused parameters.
  reducer_->prepare_for_backward({loss});
}

void ModelReducer::AfterBackward() {
  if (shared_ != nullptr) return shared_->AfterBackward();
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
