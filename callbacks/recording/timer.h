// Timer records the duration of each epoch: "train_seconds" without
// evaluations, and "eval_seconds" of all evaluations in it.
//
//   Timer& timer = trainer.Add(Timer());
//   trainer.Train(…);
//   timer.seconds();      // of the whole run
//
// Thread-compatible.
#ifndef TRAINYARD_CALLBACKS_RECORDING_TIMER_H_
#define TRAINYARD_CALLBACKS_RECORDING_TIMER_H_

#include <optional>

#include "callbacks/callback.h"
#include "callbacks/clock.h"
#include "trainer/control.h"
#include "trainer/events.h"

namespace trainyard {

struct TimerOptions {
  SecondsClock clock = SteadySeconds;
};

class Timer final : public Callback {
 public:
  // Throws std::invalid_argument, naming the option, for an invalid one.
  explicit Timer(TimerOptions options = {});

  // Since the start of the current run, or of the last run; 0 before the first.
  double seconds() const;

  void OnRunStart(const RunStart& e, Control&) override;
  void OnEpochStart(const EpochStart& e, Control&) override;
  void OnEvalStart(const EvalStart& e, Control&) override;
  void OnEvalEnd(const EvalEnd& e, Control&) override;
  void OnEpochEnd(const EpochEnd& e, Control&) override;
  void OnRunEnd(const RunEnd& e, Control&) override;

 private:
  TimerOptions options_;
  std::optional<double> run_start_;
  std::optional<double> run_end_;
  double epoch_start_ = 0;
  double eval_start_ = 0;
  double eval_seconds_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_RECORDING_TIMER_H_
