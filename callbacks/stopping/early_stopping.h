// EarlyStopping stops the run when a metric has not improved for `patience`
// evaluations.
//
//   auto& stopper = trainer.Add(EarlyStopping({.patience = 3}));
//   trainer.Train(...);
//   stopper.best();        // and stopper.best_epoch()
//
// It compares a metric of an evaluation when the evaluation ends, and any other
// metric of the history at the end of an epoch. `check` makes it less often, in
// any unit:
//
//   EarlyStopping({.patience = 3, .check = Every(Samples(1000000))});
//
// Thread-compatible.
#ifndef TRAINYARD_CALLBACKS_STOPPING_EARLY_STOPPING_H_
#define TRAINYARD_CALLBACKS_STOPPING_EARLY_STOPPING_H_

#include <cstdint>
#include <optional>
#include <string>

#include "callbacks/callback.h"
#include "callbacks/stopping/metric_watch.h"
#include "trainer/better.h"
#include "trainer/control.h"
#include "trainer/events.h"
#include "trainer/run_clock.h"
#include "trainer/state.h"
#include "trainer/train_unit.h"

namespace trainyard {

struct EarlyStoppingOptions {
  // A name of the history, of evaluation or training.
  std::string metric = "eval_loss";
  Better better = Better::kLower;
  // Comparisons in a row without improvement before the stop. REQUIRES: >= 1.
  int64_t patience = 1;
  // When to compare: the newest value or, if there is none since the last
  // comparison, the next one. Unset: every value.
  std::optional<Period> check = std::nullopt;
  // An improvement is a change by more than this. REQUIRES: >= 0.
  double threshold = 0;
  // Whether a second run of the trainer starts without the best value of the
  // first.
  bool reset_on_run = true;
};

class EarlyStopping final : public Callback, public Stateful {
 public:
  // Throws std::invalid_argument, naming the option, for an invalid one.
  explicit EarlyStopping(EarlyStoppingOptions options = {});

  // After the callbacks that record what is watched, before those that print.
  int priority() const override { return 50; }

  void OnRunStart(const RunStart& e, Control& control) override;
  void OnStepEnd(const StepEnd& e, Control& control) override;
  void OnEvalEnd(const EvalEnd& e, Control& control) override;
  // This and OnRunEnd throw std::invalid_argument, listing the metrics there
  // are, if the metric was never recorded.
  void OnEpochEnd(const EpochEnd& e, Control& control) override;
  void OnRunEnd(const RunEnd& e, Control&) override;

  // A resumed run behaves like an uninterrupted one. If this callback stopped
  // it, the resumed run stops at once.
  State SaveState() const override;
  void LoadState(const State& state) override;

  // The best value so far. Unset before the first value that is not NaN.
  std::optional<double> best() const { return best_; }
  // The epoch of the best value, counted from 1.
  int64_t best_epoch() const { return best_epoch_; }

 private:
  // A value was measured.
  void See(double value, const RunClock& clock, Control& control);
  // The clock advanced.
  void Advance(const RunClock& clock, Control& control);
  void JudgeIfDue(Control& control);
  void StopIfPatienceIsOut(Control& control) const;

  // A value and the epoch it is of, counted from 1.
  struct Seen {
    double value;
    int64_t epoch;
  };

  EarlyStoppingOptions options_;
  MetricWatch watch_;
  // The progress at the last look at `check`.
  Progress looked_at_;
  // How many values had been taken when the loaded state was saved.
  int64_t taken_before_ = 0;
  // The newest value that was not compared.
  std::optional<Seen> seen_;
  // A comparison was due and had no value.
  bool due_ = false;
  std::optional<double> best_;
  int64_t best_epoch_ = 0;
  // Comparisons since the best value.
  int64_t waited_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_STOPPING_EARLY_STOPPING_H_
