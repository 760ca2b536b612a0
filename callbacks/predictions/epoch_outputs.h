// EpochOutputs passes the outputs of a whole epoch to a function: of all
// records of all ranks, in the order of the data.
//
//   trainer.Add(EpochOutputs(
//       {.set = "evaluation",
//        .keep =
//            [](const AnyBatch& batch, const at::Tensor& outputs) {
//              return std::vector{outputs, batch.As<Example>().target};
//            },
//        .use =
//            [&](const std::vector<at::Tensor>& rows) {
//              predictions = rows[0];
//              targets = rows[1];
//            }}));
//
// Rows are on the CPU and detached. All ranks get all rows: keep what fits into
// the memory of each process. In a training epoch the order is that in which
// the sampler gave the records. After a resume within an epoch only the rows
// from there on are collected.
//
// It needs a task that reports its outputs, as Supervised does: by ForwardDone
// in TrainStep, by StepOutput::outputs in EvalStep. Add it on all ranks: it
// exchanges rows at OnTrainEpochEnd or OnEvalEnd.
//
// Thread-compatible.
#ifndef TRAINYARD_CALLBACKS_PREDICTIONS_EPOCH_OUTPUTS_H_
#define TRAINYARD_CALLBACKS_PREDICTIONS_EPOCH_OUTPUTS_H_

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/output_collector.h"
#include "callbacks/callback.h"
#include "trainer/control.h"
#include "trainer/data/batch.h"
#include "trainer/events.h"

namespace trainyard {

struct EpochOutputsOptions {
  // "train" for the epochs of training; the name of an evaluation set
  // otherwise: "eval" in runs, "evaluation" for Trainer::Evaluate.
  std::string set = "eval";
  // Returns what to keep of a batch: tensors with a row per record. Null: the
  // outputs.
  std::function<std::vector<at::Tensor>(const AnyBatch& batch,
                                        const at::Tensor& outputs)>
      keep = nullptr;
  // Required. Called on every rank at the end of the epoch, with one tensor for
  // each that `keep` returns. Not called if no rank had a record.
  std::function<void(const std::vector<at::Tensor>& rows)> use = nullptr;
};

class EpochOutputs final : public Callback {
 public:
  // Throws c10::ValueError with the option's name for an invalid one.
  explicit EpochOutputs(EpochOutputsOptions options);

  void OnRunStart(const RunStart& e, Control&) override;
  void OnEpochStart(const EpochStart& e, Control&) override;
  // Both throw c10::ValueError if there are no outputs, or not a row for each
  // record.
  void OnForwardEnd(const ForwardEnd& e, Control&) override;
  void OnEvalStepEnd(const EvalStepEnd& e, Control&) override;
  void OnTrainEpochEnd(const TrainEpochEnd& e, Control&) override;
  void OnEvalStart(const EvalStart& e, Control&) override;
  void OnEvalEnd(const EvalEnd& e, Control&) override;

 private:
  void Keep(const AnyBatch& batch, const at::Tensor& outputs);
  void Finish();

  EpochOutputsOptions options_;
  bool training_;
  // In an evaluation of this set.
  bool evaluating_ = false;
  Backend* backend_ = nullptr;
  OutputCollector rows_;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_PREDICTIONS_EPOCH_OUTPUTS_H_
