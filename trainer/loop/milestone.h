// Milestone is something that a run does periodically, and when it was last
// done: evaluate, save a checkpoint, report.
//
//   Milestone report(Every(Batches(100)));
//   if (report.Due(clock)) {
//     Report();
//     report.Done(clock);
//   }
//
// It is due at most once per batch, also in a run that is resumed right after
// it was done.
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_LOOP_MILESTONE_H_
#define TRAINYARD_TRAINER_LOOP_MILESTONE_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "trainer/run_clock.h"
#include "trainer/state.h"
#include "trainer/train_unit.h"

namespace trainyard {

class Milestone final : public Stateful {
 public:
  explicit Milestone(Period period) : period_(std::move(period)) {}

  const Period& period() const { return period_; }

  // Whether ranks must agree on the elapsed time to agree on what is due.
  bool needs_seconds() const { return period_.uses_seconds(); }

  bool Due(const RunClock& clock) const {
    return !DoneAt(clock) && period_.Due(clock.previous(), clock.progress());
  }

  void Done(const RunClock& clock) { done_at_ = clock.batches(); }

  // Whether it was done after the last batch of the clock.
  bool DoneAt(const RunClock& clock) const {
    return done_at_ == clock.batches();
  }

  State SaveState() const override {
    State state;
    if (done_at_) state.Set("done_at", *done_at_);
    return state;
  }
  void LoadState(const State& state) override {
    state.CheckVersion(1);
    done_at_.reset();
    if (state.Has("done_at")) done_at_ = state.Get<int64_t>("done_at");
  }

 private:
  Period period_;
  // In batches of the run.
  std::optional<int64_t> done_at_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_LOOP_MILESTONE_H_
