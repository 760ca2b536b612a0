// MaxDuration stops the run after a length in any unit: wall-clock time,
// samples, batches, updates or epochs.
//
//   trainer.Add(MaxDuration(Seconds(3600)));
//
// It checks after every step, so the run may end within an epoch. The length of
// a resumed run includes its earlier parts, unless:
//
//   MaxDuration(Seconds(3600), {.of_process = true});
//
// Thread-compatible.
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
  // Throws std::invalid_argument if the length is zero.
  explicit MaxDuration(Duration length, MaxDurationOptions options = {});

  // Stops a resumed run that is already that long before its first batch.
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
