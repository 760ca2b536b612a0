// Throughput records the speed of each epoch:
//
//   samples_per_second    of all ranks, without evaluations
//   data_wait             share of that time spent waiting for batches, 0 to 1
//   step_ms_p50, step_ms_p95, step_ms_max    of single steps, in milliseconds
//
//   trainer.Add(Throughput());
//
// Times are those of the host. On a device that runs asynchronously a step ends
// when it is queued: then only the values of the whole epoch are meaningful.
//
// Thread-compatible.
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
  // Throws std::invalid_argument, naming the option, for an invalid one.
  explicit Throughput(ThroughputOptions options = {});

  void OnEpochStart(const EpochStart& e, Control&) override;
  void OnStepStart(const StepStart& e, Control&) override;
  void OnStepEnd(const StepEnd& e, Control&) override;
  void OnEvalStart(const EvalStart& e, Control&) override;
  void OnEvalEnd(const EvalEnd& e, Control&) override;
  void OnTrainEpochEnd(const TrainEpochEnd& e, Control&) override;

 private:
  ThroughputOptions options_;
  // When the wait for the next batch began.
  double wait_start_ = 0;
  double epoch_start_ = 0;
  double eval_start_ = 0;
  double eval_seconds_ = 0;
  double step_start_ = 0;
  double waited_ = 0;
  int64_t start_samples_ = 0;
  // Of the current epoch, in seconds.
  std::vector<float> steps_;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_RECORDING_THROUGHPUT_H_
