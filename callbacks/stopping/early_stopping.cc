#include "callbacks/stopping/early_stopping.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "callbacks/printing/readable.h"

namespace trainyard {

EarlyStopping::EarlyStopping(EarlyStoppingOptions options)
    : options_(std::move(options)), watch_("EarlyStopping", options_.metric) {
  if (options_.patience < 1) {
    throw std::invalid_argument("EarlyStopping: patience is " +
                                std::to_string(options_.patience) +
                                "; it must be at least 1");
  }
  if (!(options_.threshold >= 0)) {
    throw std::invalid_argument("EarlyStopping: threshold is " +
                                std::to_string(options_.threshold) +
                                "; it must not be negative");
  }
}

State EarlyStopping::SaveState() const {
  State state(/*version=*/3);
  if (best_) state.Set("best", *best_);
  state.Set("best_epoch", best_epoch_);
  state.Set("waited", waited_);
  state.Set("judged", watch_.taken());
  state.Set("due", static_cast<int64_t>(due_));
  if (seen_) {
    state.Set("seen", seen_->value);
    state.Set("seen_epoch", seen_->epoch);
  }
  return state;
}

void EarlyStopping::LoadState(const State& state) {
  // Version 2 also had batches and seconds, which the run's clock has now.
  state.CheckVersion(3);
  const auto best_epoch = state.Get<int64_t>("best_epoch");
  const auto waited = state.Get<int64_t>("waited");
  const auto taken = state.Get<int64_t>("judged");
  std::optional<Seen> seen;
  bool due = false;
  if (state.version() >= 2) {
    due = state.Get<int64_t>("due") != 0;
    if (state.Has("seen")) {
      seen = {state.Get<double>("seen"), state.Get<int64_t>("seen_epoch")};
    }
  }
  best_.reset();
  if (state.Has("best")) best_ = state.Get<double>("best");
  best_epoch_ = best_epoch;
  waited_ = waited;
  seen_ = seen;
  due_ = due;
  taken_before_ = taken;
}

void EarlyStopping::OnRunStart(const RunStart& e, Control& control) {
  looked_at_ = e.clock.progress();
  if (e.resumed) {
    watch_.StartRun(taken_before_);
    return StopIfPatienceIsOut(control);
  }
  watch_.StartRun();
  seen_.reset();
  due_ = false;
  waited_ = 0;
  if (!options_.reset_on_run) return;
  best_.reset();
  best_epoch_ = 0;
}

void EarlyStopping::OnStepEnd(const StepEnd& e, Control& control) {
  Advance(e.clock, control);
}

void EarlyStopping::OnEvalEnd(const EvalEnd& e, Control& control) {
  if (const std::optional<double> value = watch_.Take(e)) {
    See(*value, e.clock, control);
  }
}

void EarlyStopping::OnEpochEnd(const EpochEnd& e, Control& control) {
  for (const double value : watch_.Take(e)) See(value, e.clock, control);
  Advance(e.clock, control);
}

void EarlyStopping::OnRunEnd(const RunEnd& e, Control&) { watch_.EndRun(e); }

void EarlyStopping::See(double value, const RunClock& clock, Control& control) {
  seen_ = {value, clock.epoch_of_last_batch() + 1};
  if (!options_.check) due_ = true;
  JudgeIfDue(control);
}

void EarlyStopping::Advance(const RunClock& clock, Control& control) {
  if (!options_.check) return;
  due_ = due_ || options_.check->Due(looked_at_, clock.progress());
  looked_at_ = clock.progress();
  JudgeIfDue(control);
}

void EarlyStopping::JudgeIfDue(Control& control) {
  if (!due_ || !seen_) return;
  due_ = false;
  const Seen seen = *std::exchange(seen_, std::nullopt);
  if (Improves(seen.value, best_, options_.better, options_.threshold)) {
    best_ = seen.value;
    best_epoch_ = seen.epoch;
    waited_ = 0;
    return;
  }
  ++waited_;
  StopIfPatienceIsOut(control);
}

void EarlyStopping::StopIfPatienceIsOut(Control& control) const {
  if (waited_ < options_.patience) return;
  const std::string best =
      best_ ? ReadableValue(*best_) + " of epoch " + std::to_string(best_epoch_)
            : "nan";
  const std::string unit = options_.check ? "check" : "evaluation";
  control.RequestStop(options_.metric + " has not improved on " + best +
                      " in " + std::to_string(waited_) + " " + unit +
                      (waited_ == 1 ? "" : "s"));
}

}  // namespace trainyard
