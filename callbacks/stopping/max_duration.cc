#include "callbacks/stopping/max_duration.h"

#include <stdexcept>
#include <utility>

namespace trainyard {

MaxDuration::MaxDuration(Duration length, MaxDurationOptions options)
    : length_(length), progress_("MaxDuration", std::move(options.clock)) {
  if (!(length_.amount > 0)) {
    throw std::invalid_argument("MaxDuration: the length is " +
                                ToString(length_) + "; it must be positive");
  }
}

void MaxDuration::OnRunStart(const RunStart& e, Control&) {
  progress_.Start(e);
}

void MaxDuration::OnStepEnd(const StepEnd& e, Control& control) {
  progress_.Count(e);
  Look(control);
}

void MaxDuration::OnEpochEnd(const EpochEnd& e, Control& control) {
  progress_.Count(e);
  Look(control);
}

void MaxDuration::Look(Control& control) const {
  if (Reached(progress_.now(), length_)) {
    control.RequestStop("the run has lasted " + ToString(length_));
  }
}

}  // namespace trainyard
