// MaxDuration asks the run to stop once it has come as far as a length in any
// unit: wall-clock time, samples, batches, updates or epochs.
//
//   trainer.Add(MaxDuration(Seconds(3600)));
//
// It checks after every step; the run ends there, also within an epoch. A
// resumed run counts from its first start, in every unit. To limit the time of
// one process, subtract what the run had before:
//
//   MaxDuration(Seconds(3600), {.of_process = true});
//
// Thread-compatible: the loop calls it from one thread.
#ifndef TRAINYARD_CALLBACKS_STOPPING_MAX_DURATION_H_
#define TRAINYARD_CALLBACKS_STOPPING_MAX_DURATION_H_

#include "callbacks/callback.h"
#include "trainer/control.h"
#include "trainer/events.h"
#include "trainer/run_clock.h"
#include "trainer/train_unit.h"

namespace trainyard {

struct MaxDurationOptions {
  // Whether a resumed run counts from the moment it was resumed.
  bool of_process = false;
};

class MaxDuration final : public Callback {
 public:
  // Throws std::invalid_argument if the length is zero, or an option is bad.
  explicit MaxDuration(Duration length, MaxDurationOptions options = {});

  // A resumed run that has lasted as long already stops before its first batch.
  void OnRunStart(const RunStart& e, Control& control) override;
  void OnStepEnd(const StepEnd& e, Control& control) override;
  void OnEpochEnd(const EpochEnd& e, Control& control) override;

 private:
  void StopIfReached(const RunClock& clock, Control& control) const;

  Duration length_;
  MaxDurationOptions options_;
  // The amount at which this process started to count.
  double start_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_STOPPING_MAX_DURATION_H_
