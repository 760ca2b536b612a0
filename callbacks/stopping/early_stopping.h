// EarlyStopping asks the run to stop once a metric has gone `patience`
// evaluations without improving.
//
//   auto& stopper = trainer.Add(EarlyStopping({.patience = 3}));
//   trainer.Train(...);
//   stopper.best();        // and stopper.best_epoch()
//
// It looks at the end of every evaluation; at training's own metrics and those
// that callbacks record, at the end of every epoch. Or less often, in any unit:
//
//   EarlyStopping({.patience = 3, .check = Every(Samples(1000000))});
//
// Thread-compatible: the loop calls it from one thread.
#ifndef TRAINYARD_CALLBACKS_STOPPING_EARLY_STOPPING_H_
#define TRAINYARD_CALLBACKS_STOPPING_EARLY_STOPPING_H_

#include <cstdint>
#include <optional>
#include <string>

#include "callbacks/callback.h"
#include "callbacks/clock.h"
#include "callbacks/run_progress.h"
#include "callbacks/stopping/metric_watch.h"
#include "trainer/better.h"
#include "trainer/control.h"
#include "trainer/events.h"
#include "trainer/state.h"
#include "trainer/train_unit.h"

namespace trainyard {

struct EarlyStoppingOptions {
  // Any name of the history: an evaluation's or training's own.
  std::string metric = "eval_loss";
  Better better = Better::kLower;
  // Looks in a row without improvement before the stop. REQUIRES: >= 1.
  int64_t patience = 1;
  // When to look: at the newest value then or, if there is none since the last
  // look, at the next one. Never: at every value, as it is measured.
  Period check = {};
  // Only a change by more than this is an improvement. REQUIRES: >= 0.
  double threshold = 0;
  // A second run starts without the first one's best. Otherwise it goes on from
  // it.
  bool reset_on_run = true;
  SecondsClock clock = SteadySeconds;
};

class EarlyStopping final : public Callback, public Stateful {
 public:
  // Throws std::invalid_argument, which names the option, for a bad one.
  explicit EarlyStopping(EarlyStoppingOptions options = {});

  // After the callbacks that record what is watched, before those that print.
  int priority() const override { return 50; }

  void OnRunStart(const RunStart& e, Control& control) override;
  void OnStepEnd(const StepEnd& e, Control& control) override;
  void OnEvalEnd(const EvalEnd& e, Control& control) override;
  // This and OnRunEnd throw std::invalid_argument, which lists the metrics
  // there are, if what is watched was not recorded although it could have been.
  void OnEpochEnd(const EpochEnd& e, Control& control) override;
  void OnRunEnd(const RunEnd& e, Control&) override;

  // Best value and patience spent: a run that goes on from a checkpoint is
  // judged as if it had never stopped, and at once if it was stopped by this.
  State SaveState() const override;
  void LoadState(const State& state) override;

  // The best value so far; none before the first one that is a number.
  std::optional<double> best() const { return best_; }
  // The epoch of the best value, counted from 1.
  int64_t best_epoch() const { return best_epoch_; }

 private:
  // A value was measured.
  void See(double value, const StepState& state, Control& control);
  // Progress was made since `before`.
  void Advance(const Progress& before, Control& control);
  void JudgeIfDue(Control& control);
  void StopIfPatienceIsOut(Control& control) const;

  // A value and the epoch it is of, counted from 1.
  struct Seen {
    double value;
    int64_t epoch;
  };

  EarlyStoppingOptions options_;
  MetricWatch watch_;
  RunProgress progress_;
  // The next run is the rest of one that was saved: what it had taken and done.
  struct Earlier {
    int64_t taken;
    Progress progress;
  };
  std::optional<Earlier> earlier_;
  int64_t num_epochs_ = 0;
  // The newest value that was not judged.
  std::optional<Seen> seen_;
  // A look was due and had no value.
  bool due_ = false;
  std::optional<double> best_;
  int64_t best_epoch_ = 0;
  // Looks since the best one.
  int64_t waited_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_STOPPING_EARLY_STOPPING_H_
