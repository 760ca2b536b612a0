// RunProgress counts how far a run has come, in every unit, from the events
// that a callback hears.
//
//   void OnStepEnd(const StepEnd& e, Control&) override {
//     const Progress before = progress_.now();
//     progress_.Count(e);
//     if (period_.Due(before, progress_.now())) …
//   }
//
// Thread-compatible.
#ifndef TRAINYARD_CALLBACKS_RUN_PROGRESS_H_
#define TRAINYARD_CALLBACKS_RUN_PROGRESS_H_

#include <string>

#include "callbacks/clock.h"
#include "trainer/events.h"
#include "trainer/train_unit.h"

namespace trainyard {

class RunProgress {
 public:
  // `owner` is who counts, for errors. Throws std::invalid_argument for an
  // empty clock.
  RunProgress(const std::string& owner, SecondsClock clock);

  // A run starts: batches and seconds from 0, or from where an earlier part of
  // it was.
  void Start(const RunStart& e, const Progress& earlier = {});

  void Count(const StepEnd& e);
  void Count(const EpochEnd& e);

  const Progress& now() const { return now_; }

 private:
  void Count(const StepState& state);

  SecondsClock clock_;
  double start_ = 0;
  Progress now_;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_RUN_PROGRESS_H_
