#include "trainer/loop/evaluation.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "backends/gather_text.h"
#include "backends/while_others_wait.h"
#include "trainer/loop/eval_metrics.h"

namespace trainyard {
namespace {

// A step that only looks.
class EvalContext final : public StepContext {
 public:
  explicit EvalContext(const StepState& state) : state_(state) {}
  const StepState& state() const override { return state_; }
  void ForwardDone(const at::Tensor&) override {}
  void Backward(const at::Tensor&, std::optional<double>) override {
    Refuse("Backward");
  }
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
    const std::optional<AnyBatch> next = loader.Next();
    if (next->size() == 0) break;  // nothing left for this process
    const AnyBatch batch = next->WithoutPadding().To(parts.backend.device());
    parts.callbacks.Fire(EvalStepStart{state, batch});
    StepOutput output;
    parts.backend.Forward(
        [&] { output = parts.task.EvalStep(batch, context); });
    if (!output.weight) output.weight = static_cast<double>(batch.size());
    metrics.Add(output);
    state.IncrementBatch({.batch_size = batch.size(), .is_training = false});
    parts.callbacks.Fire(EvalStepEnd{state, batch, output});
  }
  return metrics.Read(parts.backend);
}

// The other processes do not know the names before.
Metrics FromMainRank(const Metrics& metrics, Backend& backend) {
  if (backend.num_processes() == 1) return metrics;
  std::string names;
  std::vector<double> values;
  for (const auto& [name, value] : metrics) {
    names += name + '\n';
    values.push_back(value);
  }
  Collectives& collectives = backend.collectives();
  std::istringstream all_names(GatherText(collectives, names).front());
  const at::Tensor all_values =
      collectives.AllGather(at::tensor(values, at::kDouble)).front();
  Metrics received;
  const double* value = all_values.const_data_ptr<double>();
  for (std::string name; std::getline(all_names, name);) {
    received[name] = *value++;
  }
  return received;
}

Metrics EvaluateAtOnce(const EvaluationParts& parts, Loader& loader,
                       const StepState& state) {
  Metrics metrics;
  const auto evaluate = [&] {
    EvalContext context(state);
    loader.StartEpoch(0);
    parts.backend.Forward(
        [&] { metrics = parts.task.EvaluateDataset(loader, context); });
  };
  WhileOthersWait(parts.backend.collectives(), parts.backend.rank() == 0,
                  evaluate);
  return FromMainRank(metrics, parts.backend);
}

}  // namespace

Metrics Evaluate(const EvaluationParts& parts, Loader& loader,
                 const EvaluationOptions& options) {
  const at::NoGradGuard no_gradients;
  StepState state = parts.state;
  state.ResetEpoch();
  int64_t batches = *loader.batches_per_epoch();
  if (options.max_batches > 0) batches = std::min(batches, options.max_batches);
  parts.callbacks.Fire(EvalStart{state, options.name, batches});
  const Metrics measured = parts.task.evaluates_dataset()
                               ? EvaluateAtOnce(parts, loader, state)
                               : EvaluateByBatch(parts, loader, batches, state);
  Metrics metrics;
  for (const auto& [metric, value] : measured)
    metrics[options.name + "_" + metric] = value;
  return metrics;
}

}  // namespace trainyard
