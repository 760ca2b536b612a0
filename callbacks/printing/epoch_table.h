// EpochTable prints one row per epoch: every metric that the history received
// in it, samples per second of training, and seconds of the whole epoch.
//
//   trainer.Add(EpochTable());
//
//   epoch  train_loss  eval_loss  eval_accuracy  samples/s  seconds
//     1/5      0.5215     0.3807         0.8610      8.21k      7.9
//     2/5      0.3402     0.3311         0.8799      8.34k      7.8
//
// The columns are the metrics of training, then those of evaluation, then
// others; the loss comes first in each group. A metric that first appears in a
// later epoch gets a column and a new header. Metrics measured after the last
// complete epoch get a row named "end". ProgressBar clears its line before a
// row is printed.
//
// With several ranks it prints on local rank 0 of each machine only, unless
// `every_rank` is set.
//
// Thread-compatible.
#ifndef TRAINYARD_CALLBACKS_PRINTING_EPOCH_TABLE_H_
#define TRAINYARD_CALLBACKS_PRINTING_EPOCH_TABLE_H_

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "callbacks/callback.h"
#include "callbacks/clock.h"
#include "callbacks/stopping/new_values.h"
#include "trainer/control.h"
#include "trainer/events.h"
#include "trainer/run_config.h"

namespace trainyard {

struct EpochTableOptions {
  // Borrowed.
  std::FILE* output = stdout;
  SecondsClock clock = SteadySeconds;
  // Prints on every rank, and not only on local rank 0 of each machine.
  bool every_rank = false;
};

class EpochTable final : public Callback {
 public:
  // Throws std::invalid_argument, naming the option, for an invalid one.
  explicit EpochTable(EpochTableOptions options = {});

  // After other callbacks, so that the row has what they record at the end of
  // an epoch.
  int priority() const override { return 100; }

  void OnRunStart(const RunStart& e, Control&) override;
  void OnEpochStart(const EpochStart& e, Control&) override;
  void OnTrainEpochEnd(const TrainEpochEnd& e, Control&) override;
  void OnEvalStart(const EvalStart& e, Control&) override;
  void OnEvalEnd(const EvalEnd& e, Control&) override;
  void OnEpochEnd(const EpochEnd& e, Control&) override;
  void OnRunEnd(const RunEnd& e, Control&) override;

 private:
  // Adds new columns; prints a header if there are any.
  void Widen(const Metrics& values);
  void PrintRow(const std::string& epoch, const Metrics& values,
                const std::string& rate, const std::string& seconds);
  void PrintHeader();

  EpochTableOptions options_;
  bool prints_ = true;
  RunConfig config_;
  std::vector<std::string> columns_;
  bool header_printed_ = false;
  NewValues news_;
  double start_ = 0;
  int64_t start_samples_ = 0;
  double samples_per_second_ = 0;
  double eval_start_ = 0;
  double eval_seconds_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_PRINTING_EPOCH_TABLE_H_
