// ProgressBar shows where a run is: on a terminal one line that is redrawn,
// with epoch, bar, batches, samples per second, time left and the latest loss;
// in a file or pipe a few plain lines.
//
//   trainer.Add(ProgressBar());
//   trainer.Add(EpochTable());
//
// An evaluation is drawn on the same line. The line is gone by the time that
// other callbacks hear of the end of a pass, so that what they print stands
// clean; without any that print, ProgressBar({.keep = true}) leaves a line per
// pass.
//
// A step that draws nothing costs one look at the clock. Tensors are read,
// which waits for the device, only to be drawn.
//
// Thread-compatible: the loop calls it from one thread.
#ifndef TRAINYARD_CALLBACKS_PRINTING_PROGRESS_BAR_H_
#define TRAINYARD_CALLBACKS_PRINTING_PROGRESS_BAR_H_

#include <string>
#include <utility>

#include "callbacks/callback.h"
#include "callbacks/printing/progress_display.h"
#include "trainer/control.h"
#include "trainer/events.h"

namespace trainyard {

using ProgressBarOptions = ProgressDisplayOptions;

class ProgressBar final : public Callback {
 public:
  explicit ProgressBar(ProgressBarOptions options = {})
      : display_(std::move(options)) {}

  // Before others: it clears its line for what they print.
  int priority() const override { return -100; }

  void OnEpochStart(const EpochStart& e, Control&) override;
  void OnStepEnd(const StepEnd& e, Control&) override;
  void OnTrainEpochEnd(const TrainEpochEnd& e, Control&) override;
  void OnEvalStart(const EvalStart& e, Control&) override;
  void OnEvalStepEnd(const EvalStepEnd& e, Control&) override;
  void OnEvalEnd(const EvalEnd& e, Control&) override;
  void OnStop(const Stop&, Control&) override { Leave(); }
  void OnCancel(const Cancel&, Control&) override { Leave(); }
  void OnRunEnd(const RunEnd& e, Control&) override;

 private:
  void Leave();

  ProgressDisplay display_;
  // An evaluation now is one within an epoch.
  bool training_ = false;
  // Before the name of an evaluation in a run; "" outside of runs.
  std::string epoch_;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_PRINTING_PROGRESS_BAR_H_
