#include "callbacks/stopping/early_stopping.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "callbacks/printing/readable.h"

namespace trainyard {

EarlyStopping::EarlyStopping(EarlyStoppingOptions options)
    : options_(std::move(options)),
      watch_("EarlyStopping", options_.metric),
      progress_("EarlyStopping", options_.clock) {
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
  State state(/*version=*/2);
  if (best_) state.Set("best", *best_);
  state.Set("best_epoch", best_epoch_);
  state.Set("waited", waited_);
  state.Set("judged", watch_.taken());
  state.Set("batches", progress_.now().batches);
  state.Set("seconds", progress_.now().seconds);
  state.Set("due", static_cast<int64_t>(due_));
  if (seen_) {
    state.Set("seen", seen_->value);
    state.Set("seen_epoch", seen_->epoch);
  }
  return state;
}

void EarlyStopping::LoadState(const State& state) {
  state.CheckVersion(2);
  const auto best_epoch = state.Get<int64_t>("best_epoch");
  const auto waited = state.Get<int64_t>("waited");
  Earlier earlier{.taken = state.Get<int64_t>("judged"), .progress = {}};
  std::optional<Seen> seen;
  bool due = false;
  if (state.version() >= 2) {
    earlier.progress.batches = state.Get<int64_t>("batches");
    earlier.progress.seconds = state.Get<double>("seconds");
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
  earlier_ = earlier;
}

void EarlyStopping::OnRunStart(const RunStart& e, Control& control) {
  num_epochs_ = e.config.num_epochs;
  if (const auto earlier = std::exchange(earlier_, std::nullopt)) {
    watch_.StartRun(earlier->taken);
    progress_.Start(e, earlier->progress);
    return StopIfPatienceIsOut(control);
  }
  watch_.StartRun();
  progress_.Start(e);
  seen_.reset();
  due_ = false;
  waited_ = 0;
  if (!options_.reset_on_run) return;
  best_.reset();
  best_epoch_ = 0;
}

void EarlyStopping::OnStepEnd(const StepEnd& e, Control& control) {
  if (options_.check.never()) return;
  const Progress before = progress_.now();
  progress_.Count(e);
  Advance(before, control);
}

void EarlyStopping::OnEvalEnd(const EvalEnd& e, Control& control) {
  if (const std::optional<double> value = watch_.Take(e)) {
    See(*value, e.state, control);
  }
}

void EarlyStopping::OnEpochEnd(const EpochEnd& e, Control& control) {
  for (const double value : watch_.Take(e)) See(value, e.state, control);
  const Progress before = progress_.now();
  progress_.Count(e);
  Advance(before, control);
}

void EarlyStopping::OnRunEnd(const RunEnd& e, Control&) { watch_.EndRun(e); }

void EarlyStopping::See(double value, const StepState& state,
                        Control& control) {
  // The evaluation that ends a run comes after its last epoch was counted.
  seen_ = {value, std::min(state.epoch + 1, num_epochs_)};
  if (options_.check.never()) due_ = true;
  JudgeIfDue(control);
}

void EarlyStopping::Advance(const Progress& before, Control& control) {
  due_ = due_ || options_.check.Due(before, progress_.now());
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
  const std::string looks = options_.check.never() ? "evaluation" : "look";
  control.RequestStop(options_.metric + " has not improved on " + best +
                      " in " + std::to_string(waited_) + " " + looks +
                      (waited_ == 1 ? "" : "s"));
}

}  // namespace trainyard
