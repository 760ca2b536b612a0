#include "trainer/evaluation.h"

#include <ATen/core/grad_mode.h>
#include <c10/util/Exception.h>

#include <optional>

#include "tracking/metrics.h"

namespace trainyard {
namespace {

// A step that only looks.
class EvalContext final : public StepContext {
 public:
  explicit EvalContext(const StepState& state) : state_(state) {}
  const StepState& state() const override { return state_; }
  void ForwardDone(const at::Tensor&) override {}
  void Backward(const at::Tensor&, double) override { Refuse("Backward"); }
  bool Update(Optimizer&, const Clip&) override {
    Refuse("Update");
    return false;
  }

 private:
  static void Refuse(const char* what) {
    TORCH_CHECK_VALUE(false, "EvalStep called ", what,
                      "; evaluation does not train");
  }
  const StepState& state_;
};

}  // namespace

Metrics Evaluate(const EvaluationParts& parts, Loader& loader,
                 const std::string& name) {
  const at::NoGradGuard no_gradients;
  StepState state = parts.state;
  state.ResetEpoch();
  EvalContext context(state);
  MetricMeans means;
  parts.callbacks.Fire(EvalStart{state, name, loader.batches_per_epoch()});
  loader.StartEpoch(0);
  while (std::optional<AnyBatch> next = loader.Next()) {
    const AnyBatch batch = next->To(parts.backend.device());
    parts.callbacks.Fire(EvalStepStart{state, batch});
    StepOutput output;
    parts.backend.Forward(
        [&] { output = parts.task.EvalStep(batch, context); });
    if (output.weight == 0) output.weight = static_cast<double>(batch.size());
    if (output.loss.defined()) means.Add("loss", output.loss, output.weight);
    for (const auto& [metric, value] : output.metrics)
      means.Add(metric, value, output.weight);
    state.IncrementBatch({.batch_size = batch.size(), .is_training = false});
    parts.callbacks.Fire(EvalStepEnd{state, batch, output});
  }
  Metrics metrics;
  for (const auto& [metric, value] : means.Read())
    metrics[name + "_" + metric] = value;
  return metrics;
}

}  // namespace trainyard
