#include "callbacks/recording/timer.h"

#include <stdexcept>
#include <utility>

#include "tracking/run_history.h"

namespace trainyard {

Timer::Timer(TimerOptions options) : options_(std::move(options)) {
  if (options_.clock == nullptr) {
    throw std::invalid_argument("Timer: clock is empty");
  }
}

double Timer::seconds() const {
  if (!run_start_) return 0;
  return run_end_.value_or(options_.clock()) - *run_start_;
}

void Timer::OnRunStart(const RunStart&, Control&) {
  run_start_ = options_.clock();
  run_end_.reset();
}

void Timer::OnEpochStart(const EpochStart&, Control&) {
  epoch_start_ = options_.clock();
  eval_seconds_ = 0;
}

void Timer::OnEvalStart(const EvalStart&, Control&) {
  eval_start_ = options_.clock();
}

void Timer::OnEvalEnd(const EvalEnd&, Control&) {
  eval_seconds_ += options_.clock() - eval_start_;
}

void Timer::OnEpochEnd(const EpochEnd& e, Control&) {
  e.history.Update("train_seconds",
                   options_.clock() - epoch_start_ - eval_seconds_);
  e.history.Update("eval_seconds", eval_seconds_);
}

void Timer::OnRunEnd(const RunEnd&, Control&) { run_end_ = options_.clock(); }

}  // namespace trainyard
