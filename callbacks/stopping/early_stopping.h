// EarlyStopping asks the run to stop once a metric has gone `patience`
// evaluations without improving.
//
//   auto& stopper = trainer.Add(EarlyStopping({.patience = 3}));
//   trainer.Train(...);
//   stopper.best();        // and stopper.best_epoch()
//
// It judges a metric of an evaluation when the evaluation ends, and any other
// metric of the history at the end of an epoch. Or less often, in any unit:
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
#include "callbacks/stopping/metric_watch.h"
#include "trainer/better.h"
#include "trainer/control.h"
#include "trainer/events.h"
#include "trainer/run_clock.h"
#include "trainer/state.h"
#include "trainer/train_unit.h"

namespace trainyard {

struct EarlyStoppingOptions {
  // Any name of the history: an evaluation's or training's own.
  std::string metric = "eval_loss";
  Better better = Better::kLower;
  // Judgements in a row without improvement before the stop. REQUIRES: >= 1.
  int64_t patience = 1;
  // How often to judge the metric: at its newest value then or, if there is
  // none since the last time, at the next one. Unset: at every value.
  std::optional<Period> check = std::nullopt;
  // Only a change by more than this is an improvement. REQUIRES: >= 0.
  double threshold = 0;
  // Whether a second run of the trainer starts without the best value of the
  // first.
  bool reset_on_run = true;
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

  // A resumed run is judged as if it had never stopped. If this callback had
  // stopped it, it stops again at once.
  State SaveState() const override;
  void LoadState(const State& state) override;

  // The best value so far; none before the first one that is a number.
  std::optional<double> best() const { return best_; }
  // The epoch of the best value, counted from 1.
  int64_t best_epoch() const { return best_epoch_; }

 private:
  // A value was measured.
  void See(double value, const RunClock& clock, Control& control);
  // The clock advanced.
  void Advance(const RunClock& clock, bool epoch_ended, Control& control);
  void JudgeIfDue(Control& control);
  void StopIfPatienceIsOut(Control& control) const;

  // A value and the epoch it is of, counted from 1.
  struct Seen {
    double value;
    int64_t epoch;
  };

  EarlyStoppingOptions options_;
  MetricWatch watch_;
  // How many values had been taken when the loaded state was saved.
  int64_t taken_before_ = 0;
  // The newest value that was not judged.
  std::optional<Seen> seen_;
  // A judgement was due and had no value.
  bool due_ = false;
  std::optional<double> best_;
  int64_t best_epoch_ = 0;
  // Judgements since the best one.
  int64_t waited_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_STOPPING_EARLY_STOPPING_H_
