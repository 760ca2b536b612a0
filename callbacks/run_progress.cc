#include "callbacks/run_progress.h"

#include <stdexcept>
#include <utility>

namespace trainyard {

RunProgress::RunProgress(const std::string& owner, SecondsClock clock)
    : clock_(std::move(clock)) {
  if (clock_ == nullptr) {
    throw std::invalid_argument(owner + ": clock is empty");
  }
}

void RunProgress::Start(const RunStart& e, const Progress& earlier) {
  start_ = clock_() - earlier.seconds;
  now_ = {.batches = earlier.batches, .epochs = e.state.epoch};
  Count(e.state);
}

void RunProgress::Count(const StepEnd& e) {
  ++now_.batches;
  Count(e.state);
}

void RunProgress::Count(const EpochEnd& e) {
  now_.epochs = e.state.epoch + 1;
  Count(e.state);
}

void RunProgress::Count(const StepState& state) {
  now_.updates = state.optimizer_step;
  now_.samples = state.samples_seen;
  now_.seconds = clock_() - start_;
}

}  // namespace trainyard
