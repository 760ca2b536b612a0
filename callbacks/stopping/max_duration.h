// MaxDuration asks the run to stop once it has come as far as a length in any
// unit: wall-clock time, samples, batches, updates or epochs.
//
//   trainer.Add(MaxDuration(Seconds(3600)));
//
// It looks after every step; the run ends there, in mid-epoch if need be. A run
// that goes on from a checkpoint counts updates, samples and epochs on, batches
// and seconds from 0: a time limit is one of the process.
//
// Thread-compatible: the loop calls it from one thread.
#ifndef TRAINYARD_CALLBACKS_STOPPING_MAX_DURATION_H_
#define TRAINYARD_CALLBACKS_STOPPING_MAX_DURATION_H_

#include "callbacks/callback.h"
#include "callbacks/clock.h"
#include "callbacks/run_progress.h"
#include "trainer/control.h"
#include "trainer/events.h"
#include "trainer/train_unit.h"

namespace trainyard {

struct MaxDurationOptions {
  SecondsClock clock = SteadySeconds;
};

class MaxDuration final : public Callback {
 public:
  // Throws std::invalid_argument if the length is zero, or an option is bad.
  explicit MaxDuration(Duration length, MaxDurationOptions options = {});

  void OnRunStart(const RunStart& e, Control&) override;
  void OnStepEnd(const StepEnd& e, Control& control) override;
  void OnEpochEnd(const EpochEnd& e, Control& control) override;

  // What the run has completed, or the last one had.
  const Progress& progress() const { return progress_.now(); }

 private:
  void Look(Control& control) const;

  Duration length_;
  RunProgress progress_;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_STOPPING_MAX_DURATION_H_
