#include "backends/sharded/sharded_backend.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/scalar_tensor.h>
#include <c10/util/Exception.h>

#include <cmath>
#include <utility>

#include "backends/check_loss.h"
#include "backends/graph_walk.h"
#include "backends/processes/group_collectives.h"
#include "backends/same_models.h"

namespace trainyard {
namespace {

ProcessGroup& Checked(const std::shared_ptr<ProcessGroup>& group,
                      const std::string& name) {
  TORCH_CHECK_VALUE(group != nullptr, name, ": there is no process group");
  return *group;
}

}  // namespace

ShardedBackend::ShardedBackend(std::string name,
                               std::shared_ptr<ProcessGroup> group,
                               std::unique_ptr<Backend> backend,
                               ShardReducerOptions reducer, bool buffers)
    : BackendDecorator(std::move(backend)),
      name_(std::move(name)),
      group_(std::move(group)),
      collectives_(MakeGroupCollectives(Checked(group_, name_))),
      layout_(group_->rendezvous().world_size),
      exchange_(*group_),
      reducer_options_(std::move(reducer)),
      broadcast_buffers_(buffers),
      weights_(*group_) {}

void ShardedBackend::Prepare(const std::vector<ModelTensors>& models) {
  models_ = models;
  buffers_.clear();
  std::vector<at::Tensor> tensors;
  for (const ModelTensors& model : models_) {
    for (const NamedTensor& item : model.parameters) {
      // A parameter that has a slice was copied when it got it.
      if (Find(item.tensor) == nullptr) tensors.push_back(item.tensor);
    }
    for (const NamedTensor& item : model.buffers) {
      tensors.push_back(item.tensor);
      buffers_.push_back(item.tensor);
    }
  }
  CheckSameModels(*collectives_, models_);
  CopyTensors(*group_, tensors);
  AddSlices();
  SlicesMade();
  MakeReducers();
  BackendDecorator::Prepare(models);
}

void ShardedBackend::AddSlices() {
  const at::NoGradGuard no_gradients;
  for (const ModelTensors& model : models_) {
    for (const NamedTensor& item : model.parameters) {
      at::Tensor parameter = item.tensor;
      if (!parameter.is_floating_point() || Find(parameter) != nullptr) {
        continue;
      }
      if (!parameter.is_contiguous()) {
        parameter.set_data(parameter.contiguous());
      }
      ParamSlice slice = MakeSlice(parameter);
      slice.slice.set_requires_grad(true);
      slice_tensors_.insert(slice.slice.unsafeGetTensorImpl());
      slices_[parameter.unsafeGetTensorImpl()] = std::move(slice);
    }
  }
}

const ParamSlice* ShardedBackend::Find(const at::Tensor& parameter) const {
  const auto found = slices_.find(parameter.unsafeGetTensorImpl());
  return found == slices_.end() ? nullptr : &found->second;
}

at::Tensor ShardedBackend::CopyToHost(const at::Tensor& slice) {
  at::Tensor copy = at::empty(
      slice.sizes(),
      slice.options().device(at::kCPU).pinned_memory(slice.is_cuda()));
  copy.copy_(slice);
  return copy;
}

void ShardedBackend::MakeReducers() {
  reducers_.clear();
  required_.clear();
  for (const ModelTensors& model : models_) {
    std::vector<ParamSlice> trained;
    std::unordered_set<const void*> seen;  // a tied parameter has two names
    for (const NamedTensor& item : model.parameters) {
      required_.push_back(item.tensor.requires_grad());
      const ParamSlice* const slice = Find(item.tensor);
      if (!item.tensor.requires_grad() || slice == nullptr ||
          !seen.insert(item.tensor.unsafeGetTensorImpl()).second) {
        continue;
      }
      trained.push_back(*slice);
    }
    ShardReducerOptions options = reducer_options_;
    options.computed = [this, trained](size_t param) {
      Computed(trained[param].whole);
    };
    options.group_of = [this, trained](size_t param) {
      return GroupOf(trained[param].whole);
    };
    options.sent = [this, index = reducers_.size()](size_t bucket) {
      Sending(index, bucket);
    };
    reducers_.push_back(
        std::make_unique<ShardReducer>(exchange_, trained, options));
  }
}

void ShardedBackend::RemakeReducersIfStale() {
  size_t i = 0;
  bool stale = false;
  for (const ModelTensors& model : models_) {
    for (const NamedTensor& item : model.parameters) {
      stale |= item.tensor.requires_grad() != required_[i++];
    }
  }
  if (!stale) return;
  CheckSameModels(*collectives_, models_);
  MakeReducers();
}

void ShardedBackend::PrepareOptimizer(Optimizer& optimizer) {
  std::vector<ParamSlice> used;
  for (const auto& group : optimizer.param_groups()) {
    for (const at::Tensor& parameter : group.params()) {
      if (slice_tensors_.contains(parameter.unsafeGetTensorImpl())) continue;
      const ParamSlice* const slice = Find(parameter);
      TORCH_CHECK_VALUE(slice != nullptr, name_,
                        ": the optimizer has a parameter of shape ",
                        parameter.sizes(),
                        " that is in none of the prepared models; add its "
                        "model to the task");
      used.push_back(*slice);
    }
  }
  if (!used.empty()) optimizer.UseSlices(used);
}

bool ShardedBackend::UpdatesSlices(const Optimizer& optimizer) const {
  for (const auto& group : optimizer.param_groups()) {
    for (const at::Tensor& parameter : group.params()) {
      if (!slice_tensors_.contains(parameter.unsafeGetTensorImpl())) {
        return false;
      }
    }
  }
  return true;
}

double ShardedBackend::ReferenceWeight(double weight) {
  return largest_.Of(weight, *collectives_);
}

// The models that this loss trains. A single model is one of them.
std::vector<ShardReducer*> ShardedBackend::Reached(
    const at::Tensor& loss) const {
  if (reducers_.size() == 1) return {reducers_.front().get()};
  const GraphWalk walk(loss);
  std::vector<ShardReducer*> reached;
  for (const auto& reducer : reducers_) {
    std::vector<at::Tensor> parameters;
    for (const ParamSlice& item : reducer->params()) {
      parameters.push_back(item.whole);
    }
    if (walk.ReachesAny(parameters)) reached.push_back(reducer.get());
  }
  return reached;
}

void ShardedBackend::Backward(const at::Tensor& loss,
                              const BackwardOptions& options) {
  CheckLoss(loss);
  if (!options.sync) return BackendDecorator::Backward(loss, options);
  RemakeReducersIfStale();
  weights_.Start(options.weight);
  const std::vector<ShardReducer*> reducers = Reached(loss);
  group_->Guard("the exchange of gradients", [&] {
    for (ShardReducer* reducer : reducers) reducer->BeforeBackward();
    BackendDecorator::Backward(loss, options);
    for (ShardReducer* reducer : reducers) reducer->AfterBackward();
  });
}

void ShardedBackend::BackwardWithoutBatch(const BackwardOptions& options) {
  if (!options.sync) return;
  RemakeReducersIfStale();
  weights_.Start(options.weight);
  // Sends what earlier passes of the window have left, or zeros.
  std::vector<ShardReducer*> all;
  for (const auto& reducer : reducers_) all.push_back(reducer.get());
  group_->Guard("the exchange of gradients", [&] {
    for (ShardReducer* reducer : all) reducer->BeforeBackward();
    TakePart(all);
    for (ShardReducer* reducer : all) reducer->AfterBackward();
  });
}

double ShardedBackend::FinishGradients(Optimizer& optimizer) {
  if (!UpdatesSlices(optimizer)) PrepareOptimizer(optimizer);
  BackendDecorator::FinishGradients(optimizer);
  return weights_.Mean();
}

double ShardedBackend::NormOverRanks(Optimizer& optimizer) {
  const double norm = GradientNorm(optimizer.Gradients()).item<double>();
  double squares = 0;
  for (const at::Tensor& other :
       collectives_->AllGather(at::scalar_tensor(norm * norm, at::kDouble))) {
    squares += other.item<double>();
  }
  return std::sqrt(squares);
}

bool ShardedBackend::Update(Optimizer& optimizer,
                            const UpdateOptions& options) {
  UpdateOptions own = options;
  TORCH_CHECK_VALUE(options.clip.kind != Clip::Kind::kFunction, name_,
                    ": ClipWith would see only this rank's slices of the "
                    "gradients; use ClipNorm or ClipValue");
  if (options.clip.kind == Clip::Kind::kNorm) {
    const at::Tensor norm =
        at::scalar_tensor(NormOverRanks(optimizer), at::kDouble);
    own = {.divisor = ClippingDivisor(norm, options.divisor, options.clip.limit)
                          .item<double>()};
  }
  const bool updated = BackendDecorator::Update(optimizer, own);
  if (updated)
    group_->Guard("gathering parameters", [&] { Updated(optimizer); });
  return updated;
}

void ShardedBackend::EndWindow() {
  if (broadcast_buffers_) CopyTensors(*group_, buffers_);
  BackendDecorator::EndWindow();
}

State ShardedBackend::SaveState() const {
  State state = BackendDecorator::SaveState();
  largest_.Save(state);
  return state;
}

void ShardedBackend::LoadState(const State& state) {
  LargestWeight largest;
  largest.Load(state);
  BackendDecorator::LoadState(state);
  largest_ = largest;
}

}  // namespace trainyard
