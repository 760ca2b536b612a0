#include "backends/ddp.h"

#include <ATen/ops/stack.h>
#include <c10/util/Exception.h>

#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "backends/backend_decorator.h"
#include "backends/check_loss.h"
#include "backends/graph_walk.h"
#include "backends/largest_weight.h"
#include "backends/processes/group_collectives.h"
#include "backends/same_models.h"
#include "backends/weight_sum.h"

namespace trainyard {
namespace {

class Ddp final : public BackendDecorator {
 public:
  Ddp(std::shared_ptr<ProcessGroup> group, std::unique_ptr<Backend> backend,
      const DdpOptions& options)
      : BackendDecorator(std::move(backend)),
        group_(std::move(group)),
        options_(options),
        collectives_(MakeGroupCollectives(*group_)),
        weights_(*group_) {}

  const std::string& name() const override { return name_; }
  Collectives& collectives() const override { return *collectives_; }

  void Prepare(const std::vector<ModelTensors>& models) override {
    models_ = models;
    known_.clear();
    checked_.clear();
    buffers_.clear();
    std::vector<at::Tensor> tensors;
    for (const ModelTensors& model : models_) {
      for (const NamedTensor& item : model.parameters) {
        tensors.push_back(item.tensor);
        known_.insert(item.tensor.unsafeGetTensorImpl());
      }
      for (const NamedTensor& item : model.buffers) {
        tensors.push_back(item.tensor);
        buffers_.push_back(item.tensor);
      }
    }
    CheckSameModels(*collectives_, models_);
    CopyTensors(*group_, tensors);
    MakeReducers();
    BackendDecorator::Prepare(models);
  }

  double ReferenceWeight(double weight) override {
    return largest_.Of(weight, *collectives_);
  }

  void Backward(const at::Tensor& loss,
                const BackwardOptions& options) override {
    CheckLoss(loss);
    if (!options.sync) return BackendDecorator::Backward(loss, options);
    RemakeReducersIfStale();
    weights_.Start(options.weight);
    Exchange(loss, Reached(loss),
             [&] { BackendDecorator::Backward(loss, options); });
  }

  void BackwardWithoutBatch(const BackwardOptions& options) override {
    if (!options.sync) return;
    RemakeReducersIfStale();
    weights_.Start(options.weight);
    // A sum over no elements of each parameter: all gradients are zeros.
    std::vector<at::Tensor> nothing;
    std::vector<ModelReducer*> all;
    for (const auto& reducer : reducers_) {
      all.push_back(reducer.get());
      for (const at::Tensor& parameter : reducer->parameters()) {
        nothing.push_back(parameter.flatten().narrow(0, 0, 0).sum());
      }
    }
    if (nothing.empty()) return;
    const at::Tensor loss = at::stack(nothing).sum();
    Exchange(loss, all, [&] { loss.backward(); });
  }

  double FinishGradients(Optimizer& optimizer) override {
    CheckKnown(optimizer);
    BackendDecorator::FinishGradients(optimizer);
    return weights_.Mean();
  }

  void EndWindow() override {
    if (options_.broadcast_buffers) CopyTensors(*group_, buffers_);
    BackendDecorator::EndWindow();
  }

  State SaveState() const override {
    State state = BackendDecorator::SaveState();
    largest_.Save(state);
    return state;
  }

  void LoadState(const State& state) override {
    LargestWeight largest;
    largest.Load(state);
    BackendDecorator::LoadState(state);
    largest_ = largest;
  }

 private:
  void MakeReducers() {
    reducers_.clear();
    for (const ModelTensors& model : models_) {
      reducers_.push_back(
          std::make_unique<ModelReducer>(*group_, model, options_.reducer));
    }
  }

  void RemakeReducersIfStale() {
    bool stale = false;
    for (const auto& reducer : reducers_) stale |= reducer->stale();
    if (!stale) return;
    CheckSameModels(*collectives_, models_);
    MakeReducers();
  }

  // Returns the models that this loss trains. A single model is one of them.
  std::vector<ModelReducer*> Reached(const at::Tensor& loss) const {
    std::vector<ModelReducer*> reached;
    if (reducers_.size() == 1) return {reducers_.front().get()};
    const GraphWalk walk(loss);
    for (const auto& reducer : reducers_) {
      if (walk.ReachesAny(reducer->parameters())) {
        reached.push_back(reducer.get());
      }
    }
    return reached;
  }

  void Exchange(const at::Tensor& loss,
                const std::vector<ModelReducer*>& reducers,
                c10::function_ref<void()> backward) {
    group_->Guard("the exchange of gradients", [&] {
      for (ModelReducer* reducer : reducers) reducer->BeforeBackward(loss);
      backward();
      for (ModelReducer* reducer : reducers) reducer->AfterBackward();
    });
  }

  // The gradients of a parameter outside the models would not be averaged.
  void CheckKnown(Optimizer& optimizer) {
    if (!checked_.insert(&optimizer).second) return;
    for (const auto& group : optimizer.param_groups()) {
      for (const at::Tensor& parameter : group.params()) {
        TORCH_CHECK_VALUE(
            known_.contains(parameter.unsafeGetTensorImpl()),
            "ddp: the optimizer has a parameter of shape ", parameter.sizes(),
            " that is in none of the prepared models; add its model to the "
            "task");
      }
    }
  }

  const std::string name_ = "ddp";
  const std::shared_ptr<ProcessGroup> group_;
  const DdpOptions options_;
  const std::unique_ptr<Collectives> collectives_;
  WeightSum weights_;
  std::vector<ModelTensors> models_;
  std::vector<at::Tensor> buffers_;
  std::unordered_set<const void*> known_;
  std::unordered_set<const Optimizer*> checked_;
  std::vector<std::unique_ptr<ModelReducer>> reducers_;
  LargestWeight largest_;
};

}  // namespace

std::unique_ptr<Backend> MakeDdpBackend(std::shared_ptr<ProcessGroup> group,
                                        std::unique_ptr<Backend> backend,
                                        const DdpOptions& options) {
  TORCH_CHECK_VALUE(group != nullptr, "ddp: there is no process group");
  return std::make_unique<Ddp>(std::move(group), std::move(backend), options);
}

}  // namespace trainyard
