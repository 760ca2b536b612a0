// EarlyStopping asks the run to stop once a metric has gone `patience`
// evaluations without improving.
//
//   auto& stopper = trainer.Add(EarlyStopping({.patience = 3}));
//   trainer.Train(...);
//   stopper.best();        // and stopper.best_epoch()
//
// It looks at the end of every evaluation; at training's own metrics and those
// that callbacks record, at the end of every epoch.
//
// Thread-compatible: the loop calls it from one thread.
#ifndef TRAINYARD_CALLBACKS_EARLY_STOPPING_H_
#define TRAINYARD_CALLBACKS_EARLY_STOPPING_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "callbacks/callback.h"
#include "trainer/control.h"
#include "trainer/events.h"
#include "trainer/state.h"

namespace trainyard {

enum class Better { kLower, kHigher };

struct EarlyStoppingOptions {
  // Any name of the history: an evaluation's or training's own.
  std::string metric = "eval_loss";
  Better better = Better::kLower;
  // Values in a row without improvement before the stop. REQUIRES: >= 1.
  int64_t patience = 1;
  // Only a change by more than this is an improvement. REQUIRES: >= 0.
  double threshold = 0;
  // A second run starts without the first one's best. Otherwise it goes on from
  // it.
  bool reset_on_run = true;
};

class EarlyStopping final : public Callback, public Stateful {
 public:
  // Throws std::invalid_argument, which names the option, for a bad one.
  explicit EarlyStopping(EarlyStoppingOptions options = {});

  // After the callbacks that record what is watched, before those that print.
  int priority() const override { return 50; }

  void OnRunStart(const RunStart& e, Control& control) override;
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
  void Judge(double value, const StepState& state, Control& control);
  bool Improves(double value) const;
  void StopIfPatienceIsOut(Control& control) const;
  [[noreturn]] void ThrowMissing(const RunHistory& history) const;

  EarlyStoppingOptions options_;
  // Evaluations outside of runs are no part of a trend.
  bool in_run_ = false;
  bool evaluated_ = false;
  // The next run is the rest of one that was saved.
  bool goes_on_ = false;
  int64_t num_epochs_ = 0;
  std::optional<double> best_;
  int64_t best_epoch_ = 0;
  // Values since the best one.
  int64_t waited_ = 0;
  // Values of the metric that were judged in this run.
  size_t judged_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_EARLY_STOPPING_H_
