// LogMetrics passes metrics to a function, which prints them by default: those
// of training when the training of an epoch ends, all others when the epoch
// ends, and those measured after the last epoch when the run ends.
//
//   trainer.Add(LogMetrics());
//   // Epoch 1: train_loss 0.5215
//   // Epoch 1: eval_accuracy 0.8610, eval_loss 0.3807
//   trainer.Add(LogMetrics({.log = [&](int64_t epoch, const Metrics& metrics) {
//     my_platform.Send(epoch, metrics);
//   }}));
//
// With several ranks it prints on local rank 0 of each machine only, unless
// `every_rank` is set.
//
// Thread-compatible.
#ifndef TRAINYARD_CALLBACKS_PRINTING_LOG_METRICS_H_
#define TRAINYARD_CALLBACKS_PRINTING_LOG_METRICS_H_

#include <cstdint>
#include <functional>

#include "callbacks/callback.h"
#include "callbacks/stopping/new_values.h"
#include "trainer/control.h"
#include "trainer/events.h"

namespace trainyard {

// One line on standard output.
void PrintMetrics(int64_t epoch, const Metrics& metrics);

struct LogMetricsOptions {
  // Epochs count from 1. Called only if there are metrics.
  std::function<void(int64_t epoch, const Metrics& metrics)> log = PrintMetrics;
  // Logs on every rank, and not only on local rank 0 of each machine.
  bool every_rank = false;
};

class LogMetrics final : public Callback {
 public:
  // Throws std::invalid_argument, naming the option, for an invalid one.
  explicit LogMetrics(LogMetricsOptions options = {});

  // After other callbacks, so that what they record at the end of an epoch is
  // logged with it.
  int priority() const override { return 100; }

  void OnRunStart(const RunStart& e, Control&) override;
  void OnTrainEpochEnd(const TrainEpochEnd& e, Control&) override;
  void OnEpochEnd(const EpochEnd& e, Control&) override;
  void OnRunEnd(const RunEnd& e, Control&) override;

 private:
  void Log(int64_t epoch, const Metrics& metrics);

  LogMetricsOptions options_;
  bool prints_ = true;
  NewValues news_;
  // Metrics of other kinds that were recorded during training: they are logged
  // at the end of the epoch.
  Metrics waiting_;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_PRINTING_LOG_METRICS_H_
