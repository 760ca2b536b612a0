#include "callbacks/stopping/max_duration.h"

#include <stdexcept>

namespace trainyard {

MaxDuration::MaxDuration(Duration length, MaxDurationOptions options)
    : length_(length), options_(options) {
  if (!(length_.amount > 0)) {
    throw std::invalid_argument("MaxDuration: the length is " +
                                ToString(length_) + "; it must be positive");
  }
}

void MaxDuration::OnRunStart(const RunStart& e, Control& control) {
  start_ = options_.of_process ? AmountOf(e.clock.progress(), length_.unit) : 0;
  StopIfReached(e.clock, control);
}

void MaxDuration::OnStepEnd(const StepEnd& e, Control& control) {
  StopIfReached(e.clock, control);
}

void MaxDuration::OnEpochEnd(const EpochEnd& e, Control& control) {
  StopIfReached(e.clock, control);
}

void MaxDuration::StopIfReached(const RunClock& clock, Control& control) const {
  if (AmountOf(clock.progress(), length_.unit) - start_ < length_.amount) {
    return;
  }
  control.RequestStop("the run has lasted " + ToString(length_));
}

}  // namespace trainyard
