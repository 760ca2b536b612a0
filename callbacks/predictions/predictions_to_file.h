// PredictionsToFile writes what a model makes of a dataset into a CSV file: a
// line per record, in the dataset's order, each record once, however many
// processes shared the evaluation.
//
//   trainer.Add(PredictionsToFile({.path = "predictions.csv",
//                                  .prediction = MostLikelyClass}));
//   trainer.Evaluate(test, 256);
//
// The file has the columns "index" and "prediction" (or "prediction_0", … for
// several), and is replaced as a whole when an evaluation ends. It needs a task
// whose EvalStep gives its outputs, as Supervised does, and an EvalLoader that
// keeps the dataset's order, as the usual one does. With several ranks, add it
// on all of them.
//
// Thread-compatible: the loop calls it from one thread.
#ifndef TRAINYARD_CALLBACKS_PREDICTIONS_PREDICTIONS_TO_FILE_H_
#define TRAINYARD_CALLBACKS_PREDICTIONS_PREDICTIONS_TO_FILE_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "callbacks/callback.h"
#include "callbacks/predictions/prediction_rows.h"
#include "trainer/control.h"
#include "trainer/events.h"

namespace trainyard {

struct PredictionsToFileOptions {
  // Required. Its folder must be there.
  std::string path;
  // The evaluations that are written: "evaluation" for Trainer::Evaluate,
  // "eval" for those within runs, of which the last one stays.
  std::string set = "evaluation";
  // From a batch's outputs to what is written, a row per record: of shape
  // [rows] or [rows, columns]. Null: the outputs as they are.
  std::function<at::Tensor(const at::Tensor& outputs)> prediction = nullptr;
  // Names of the columns, if not the usual ones.
  std::vector<std::string> columns = {};
};

// The column with the highest value.
at::Tensor MostLikelyClass(const at::Tensor& outputs);

class PredictionsToFile final : public Callback {
 public:
  // Throws std::invalid_argument, which names the option, for a bad one.
  explicit PredictionsToFile(PredictionsToFileOptions options);

  void OnEvalStart(const EvalStart& e, Control&) override;
  // Throws std::invalid_argument if the step has no outputs, or not a row for
  // each record.
  void OnEvalStepEnd(const EvalStepEnd& e, Control&) override;
  // Throws std::runtime_error on all ranks if the file cannot be written.
  void OnEvalEnd(const EvalEnd& e, Control&) override;

 private:
  void Write(const PredictionRows& all) const;

  PredictionsToFileOptions options_;
  bool collecting_ = false;
  // Of the evaluation; null before it starts. Rank 0 writes the file.
  Backend* backend_ = nullptr;
  PredictionRows rows_;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_PREDICTIONS_PREDICTIONS_TO_FILE_H_
