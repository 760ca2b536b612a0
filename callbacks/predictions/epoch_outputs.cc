#include "callbacks/predictions/epoch_outputs.h"

#include <c10/util/Exception.h>

#include <cstdint>
#include <utility>

#include "trainer/task.h"

namespace trainyard {

EpochOutputs::EpochOutputs(EpochOutputsOptions options)
    : options_(std::move(options)), training_(options_.set == "train") {
  TORCH_CHECK_VALUE(options_.use != nullptr,
                    "EpochOutputs: use is not set; give it a function");
  TORCH_CHECK_VALUE(!options_.set.empty(), "EpochOutputs: set is empty");
}

void EpochOutputs::OnRunStart(const RunStart& e, Control&) {
  backend_ = &e.backend;
}

void EpochOutputs::OnEpochStart(const EpochStart&, Control&) {
  if (training_) rows_.Reset();
}

void EpochOutputs::OnForwardEnd(const ForwardEnd& e, Control&) {
  if (training_) Keep(e.batch, e.outputs);
}

void EpochOutputs::OnEvalStepEnd(const EvalStepEnd& e, Control&) {
  if (evaluating_) Keep(e.batch, e.output.outputs);
}

void EpochOutputs::OnTrainEpochEnd(const TrainEpochEnd&, Control&) {
  if (training_) Finish();
}

void EpochOutputs::OnEvalStart(const EvalStart& e, Control&) {
  evaluating_ = !training_ && e.name == options_.set;
  if (!evaluating_) return;
  backend_ = &e.backend;
  rows_.Reset();
}

void EpochOutputs::OnEvalEnd(const EvalEnd&, Control&) {
  if (std::exchange(evaluating_, false)) Finish();
}

void EpochOutputs::Keep(const AnyBatch& batch, const at::Tensor& outputs) {
  TORCH_CHECK_VALUE(outputs.defined(),
                    "EpochOutputs: the task's EvalStep gives no outputs; set "
                    "StepOutput::outputs");
  std::vector<at::Tensor> kept = options_.keep
                                     ? options_.keep(batch, outputs)
                                     : std::vector<at::Tensor>{outputs};
  for (at::Tensor& rows : kept) {
    const int64_t count = rows.dim() == 0 ? 1 : rows.size(0);
    TORCH_CHECK_VALUE(count == batch.size() + batch.padding(),
                      "EpochOutputs: a batch of ", batch.size(),
                      " records has ", count, " rows to keep");
    if (batch.padding() > 0) rows = rows.narrow(0, 0, batch.size());
  }
  rows_.Collect(kept);
}

void EpochOutputs::Finish() {
  const std::vector<at::Tensor> rows = rows_.AllOf(backend_->collectives());
  rows_.Reset();
  if (!rows.empty()) options_.use(rows);
}

}  // namespace trainyard
