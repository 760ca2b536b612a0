#include "callbacks/max_duration.h"

#include <stdexcept>
#include <utility>

namespace trainyard {

MaxDuration::MaxDuration(Duration length, MaxDurationOptions options)
    : length_(length), options_(std::move(options)) {
  if (!(length_.amount > 0)) {
    throw std::invalid_argument("MaxDuration: the length is " +
                                ToString(length_) + "; it must be positive");
  }
  if (options_.clock == nullptr) {
    throw std::invalid_argument("MaxDuration: clock is empty");
  }
}

void MaxDuration::OnRunStart(const RunStart&, Control&) {
  progress_ = {};
  start_ = options_.clock();
}

void MaxDuration::OnStepEnd(const StepEnd& e, Control& control) {
  ++progress_.batches;
  Look(e.state, control);
}

void MaxDuration::OnEpochEnd(const EpochEnd& e, Control& control) {
  progress_.epochs = e.state.epoch + 1;
  Look(e.state, control);
}

void MaxDuration::Look(const StepState& state, Control& control) {
  progress_.updates = state.optimizer_step;
  progress_.samples = state.samples_seen;
  progress_.seconds = options_.clock() - start_;
  if (Reached(progress_, length_)) {
    control.RequestStop("the run has lasted " + ToString(length_));
  }
}

}  // namespace trainyard
