#include "trainer/loop/evaluator.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "backends/gather_text.h"
#include "backends/while_others_wait.h"
#include "backends/whole_parameters.h"
#include "callbacks/other_weights.h"
#include "trainer/loop/eval_metrics.h"

namespace trainyard {
namespace {

// The context of an EvalStep: it refuses to train.
class EvalContext final : public StepContext {
 public:
  EvalContext(const RunClock& clock, Control& control)
      : clock_(clock), control_(control) {}
  const RunClock& clock() const override { return clock_; }
  Control& control() override { return control_; }
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
  const RunClock& clock_;
  Control& control_;
};

// Rank 0's metrics, on all ranks. The others do not know the names before.
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

}  // namespace

LoaderRequest Evaluator::Request(const DatasetPtr& data, int64_t batch_size,
                                 const LoadOptions& load) const {
  LoaderRequest request{.data = data, .batch_size = batch_size, .load = load};
  if (!parts_.task.evaluates_dataset()) {
    request.rank = parts_.backend.rank();
    request.num_ranks = parts_.backend.num_processes();
  }
  return request;
}

void Evaluator::Add(std::string name, std::unique_ptr<BatchSource> source) {
  TORCH_CHECK_VALUE(source != nullptr, "the source of evaluation set \"", name,
                    "\" is null");
  sets_.push_back({std::move(name), std::move(source)});
}

std::optional<int64_t> Evaluator::num_batches() const {
  int64_t batches = 0;
  for (const Set& set : sets_) {
    const std::optional<int64_t> more = set.source->batches_per_epoch();
    if (!more) return std::nullopt;
    batches += *more;
  }
  return batches;
}

void Evaluator::CheckPrefixes() const {
  std::set<std::string> prefixes;
  for (const OtherWeights* others : parts_.callbacks.FindAll<OtherWeights>()) {
    TORCH_CHECK_VALUE(
        !others->wanted() || prefixes.insert(others->prefix()).second,
        "Train: two callbacks evaluate other weights under the prefix \"",
        others->prefix(), "\"; give each a prefix of its own");
  }
}

const Metrics& Evaluator::Evaluate(const RunClock& clock) {
  latest_.clear();
  // Ranks may have different numbers of batches, and callbacks other weights.
  const WholeParameters whole(parts_.backend);
  parts_.task.SetTraining(false);
  EvaluateSets("", clock);
  if (!options_.other_weights) return latest_;
  CheckPrefixes();
  for (OtherWeights* others : parts_.callbacks.FindAll<OtherWeights>()) {
    if (!others->wanted()) continue;
    const OtherWeights::Use use(*others);
    EvaluateSets(others->prefix() + "_", clock);
  }
  return latest_;
}

void Evaluator::EvaluateSets(const std::string& prefix, const RunClock& clock) {
  for (Set& set : sets_) {
    const std::string name = prefix + set.name;
    const Metrics metrics = EvaluateSet(name, *set.source, clock);
    if (parts_.history != nullptr) {
      for (const auto& [metric, value] : metrics) {
        parts_.history->Update(metric, value);
      }
    }
    parts_.callbacks.Fire(EvalEnd{clock, name, metrics});
    latest_.insert(metrics.begin(), metrics.end());
  }
}

Metrics Evaluator::EvaluateSet(const std::string& name, BatchSource& source,
                               const RunClock& clock) {
  const at::NoGradGuard no_gradients;
  std::optional<int64_t> batches = source.batches_per_epoch();
  if (options_.max_batches) {
    batches = std::min(batches.value_or(*options_.max_batches),
                       *options_.max_batches);
  }
  parts_.callbacks.Fire(EvalStart{clock, name, batches, parts_.backend});
  const Metrics measured = parts_.task.evaluates_dataset()
                               ? EvaluateDataset(source, clock)
                               : EvaluateByBatch(source, batches, clock);
  Metrics metrics;
  for (const auto& [metric, value] : measured) {
    metrics[name + "_" + metric] = value;
  }
  return metrics;
}

Metrics Evaluator::EvaluateByBatch(BatchSource& source,
                                   std::optional<int64_t> batches,
                                   const RunClock& clock) {
  EvalContext context(clock, parts_.callbacks.control());
  EvalMetrics metrics(parts_.task.EvalReducers());
  source.StartEpoch(0);
  for (int64_t batch_idx = 0; !batches || batch_idx < *batches; ++batch_idx) {
    const std::optional<AnyBatch> next = source.Next();
    if (!next || next->size() == 0) break;  // nothing left for this rank
    const AnyBatch batch = next->WithoutPadding().To(parts_.backend.device());
    parts_.callbacks.Fire(EvalStepStart{clock, batch, batch_idx});
    StepOutput output;
    parts_.backend.Forward(
        [&] { output = parts_.task.EvalStep(batch, context); });
    if (!output.weight) output.weight = static_cast<double>(batch.size());
    metrics.Add(output);
    parts_.callbacks.Fire(EvalStepEnd{clock, batch, output, batch_idx});
  }
  return metrics.Read(parts_.backend);
}

Metrics Evaluator::EvaluateDataset(BatchSource& source, const RunClock& clock) {
  Metrics metrics;
  const auto evaluate = [&] {
    EvalContext context(clock, parts_.callbacks.control());
    source.StartEpoch(0);
    parts_.backend.Forward(
        [&] { metrics = parts_.task.EvaluateDataset(source, context); });
  };
  WhileOthersWait(parts_.backend.collectives(), parts_.backend.rank() == 0,
                  evaluate);
  return FromMainRank(metrics, parts_.backend);
}

}  // namespace trainyard
