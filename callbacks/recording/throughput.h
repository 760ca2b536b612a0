// Throughput records how fast an epoch trained and where its time went:
//
//   samples_per_second    over all processes, evaluations left out
//   data_wait             share of that time spent waiting for batches, 0 to 1
//   step_ms_p50, step_ms_p95, step_ms_max    of single steps, in milliseconds
//
//   trainer.Add(Throughput());
//
// Time is the host's. On a device that lags behind it, a step is over when it
// is queued: single steps then say little. The epoch as a whole is right.
//
// Thread-compatible: the loop calls it from one thread.
#ifndef TRAINYARD_CALLBACKS_RECORDING_THROUGHPUT_H_
#define TRAINYARD_CALLBACKS_RECORDING_THROUGHPUT_H_

#include <cstdint>
#include <vector>

#include "callbacks/callback.h"
#include "callbacks/clock.h"
#include "trainer/control.h"
#include "trainer/events.h"

namespace trainyard {

struct ThroughputOptions {
  SecondsClock clock = SteadySeconds;
};

class Throughput final : public Callback {
 public:
  // Throws std::invalid_argument, which names the option, for a bad one.
  explicit Throughput(ThroughputOptions options = {});

  void OnEpochStart(const EpochStart& e, Control&) override;
  void OnStepStart(const StepStart& e, Control&) override;
  void OnStepEnd(const StepEnd& e, Control&) override;
  void OnEvalStart(const EvalStart& e, Control&) override;
  void OnEvalEnd(const EvalEnd& e, Control&) override;
  void OnTrainEpochEnd(const TrainEpochEnd& e, Control&) override;

 private:
  ThroughputOptions options_;
  // The end of the last step, or what else the wait for a batch began with.
  double wait_start_ = 0;
  double epoch_start_ = 0;
  double eval_start_ = 0;
  double eval_seconds_ = 0;
  double step_start_ = 0;
  double waited_ = 0;
  int64_t start_samples_ = 0;
  // Of the epoch under way, in seconds.
  std::vector<float> steps_;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_RECORDING_THROUGHPUT_H_
