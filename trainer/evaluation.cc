#include "trainer/evaluation.h"

#include <ATen/core/grad_mode.h>
#include <c10/util/Exception.h>

#include <algorithm>

#include "trainer/eval_metrics.h"

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
  void StepSchedules(Optimizer&, StepOn) override { Refuse("StepSchedules"); }

 private:
  static void Refuse(const char* what) {
    TORCH_CHECK_VALUE(false, "EvalStep called ", what,
                      "; evaluation does not train");
  }
  const StepState& state_;
};

Metrics EvaluateByBatch(const EvaluationParts& parts, Loader& loader,
                        int64_t batches, StepState& state) {
  EvalContext context(state);
  EvalMetrics metrics(parts.task.EvalReducers());
  loader.StartEpoch(0);
  while (state.batch_idx < batches) {
    const AnyBatch batch = loader.Next()->To(parts.backend.device());
    parts.callbacks.Fire(EvalStepStart{state, batch});
    StepOutput output;
    parts.backend.Forward(
        [&] { output = parts.task.EvalStep(batch, context); });
    if (output.weight == 0) output.weight = static_cast<double>(batch.size());
    metrics.Add(output);
    state.IncrementBatch({.batch_size = batch.size(), .is_training = false});
    parts.callbacks.Fire(EvalStepEnd{state, batch, output});
  }
  return metrics.Read(parts.backend);
}

Metrics EvaluateAtOnce(const EvaluationParts& parts, Loader& loader,
                       const StepState& state) {
  EvalContext context(state);
  Metrics metrics;
  loader.StartEpoch(0);
  parts.backend.Forward(
      [&] { metrics = parts.task.EvaluateDataset(loader, context); });
  return metrics;
}

}  // namespace

Metrics Evaluate(const EvaluationParts& parts, Loader& loader,
                 const EvaluationOptions& options) {
  const at::NoGradGuard no_gradients;
  StepState state = parts.state;
  state.ResetEpoch();
  int64_t batches = loader.batches_per_epoch();
  if (options.max_batches > 0) batches = std::min(batches, options.max_batches);
  parts.callbacks.Fire(EvalStart{state, options.name, batches});
  const Metrics measured =
      parts.task.evaluates_dataset()
          ? EvaluateAtOnce(parts, loader, state)
          : EvaluateByBatch(parts, loader, batches, state);
  Metrics metrics;
  for (const auto& [metric, value] : measured)
    metrics[options.name + "_" + metric] = value;
  return metrics;
}

}  // namespace trainyard
