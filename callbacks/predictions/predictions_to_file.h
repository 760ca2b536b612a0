// PredictionsToFile writes the predictions of an evaluation to a CSV file: one
// line per record in the order of the dataset, also with several ranks.
//
//   trainer.Add(PredictionsToFile({.path = "predictions.csv",
//                                  .prediction = MostLikelyClass}));
//   trainer.Evaluate(test, 256);
//
// The file has the columns "index" and "prediction" (or "prediction_0", … for
// several), and is replaced atomically when an evaluation ends. The task's
// EvalStep must return its outputs, as Supervised's does, and its EvalLoader
// must keep the order of the dataset, as the default one does. With several
// ranks, add it on all of them.
//
// Thread-compatible.
#ifndef TRAINYARD_CALLBACKS_PREDICTIONS_PREDICTIONS_TO_FILE_H_
#define TRAINYARD_CALLBACKS_PREDICTIONS_PREDICTIONS_TO_FILE_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/output_collector.h"
#include "callbacks/callback.h"
#include "trainer/control.h"
#include "trainer/events.h"

namespace trainyard {

struct PredictionsToFileOptions {
  // Required. Its folder must exist.
  std::string path;
  // The evaluations to write: "evaluation" for Trainer::Evaluate, "eval" for
  // those of runs, of which the last one is kept.
  std::string set = "evaluation";
  // Maps the outputs of a batch to the values to write, of shape [rows] or
  // [rows, columns]. Null: the outputs.
  std::function<at::Tensor(const at::Tensor& outputs)> prediction = nullptr;
  // Names of the columns. Empty: those above.
  std::vector<std::string> columns = {};
};

// The column with the highest value.
at::Tensor MostLikelyClass(const at::Tensor& outputs);

class PredictionsToFile final : public Callback {
 public:
  // Throws std::invalid_argument, naming the option, for an invalid one.
  explicit PredictionsToFile(PredictionsToFileOptions options);

  void OnEvalStart(const EvalStart& e, Control&) override;
  // Throws std::invalid_argument if the step has no outputs, or not a row for
  // each record.
  void OnEvalStepEnd(const EvalStepEnd& e, Control&) override;
  // Numbers have the digits that their type needs to read back equal. Throws
  // std::runtime_error on all ranks if the file cannot be written.
  void OnEvalEnd(const EvalEnd& e, Control&) override;

 private:
  // The rows of all ranks, in the order of the dataset.
  void Write(const at::Tensor& rows) const;

  PredictionsToFileOptions options_;
  bool collecting_ = false;
  // Of the evaluation; null before it starts. Rank 0 writes the file.
  Backend* backend_ = nullptr;
  OutputCollector rows_;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_PREDICTIONS_PREDICTIONS_TO_FILE_H_
