// ProgressBar shows the progress of a run: on a terminal one line that is
// redrawn, with epoch, bar, batches, samples per second, time left and the
// latest loss; in a file or pipe a few plain lines.
//
//   trainer.Add(ProgressBar());
//   trainer.Add(EpochTable());
//
// An evaluation is drawn on the same line. At the end of a pass the line is
// cleared before other callbacks print. If none prints, use
// ProgressBar({.keep = true}), which leaves one line per pass.
//
// A step that draws nothing reads the clock once. A tensor is read, which waits
// for the device, only if it is drawn.
//
// With several ranks it prints on local rank 0 of each machine only, unless
// `every_rank` is set.
//
// Thread-compatible.
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
      : every_rank_(options.every_rank), display_(std::move(options)) {}

  // Before other callbacks: clears the line for what they print.
  int priority() const override { return -100; }

  void OnRunStart(const RunStart& e, Control&) override;
  void OnEpochStart(const EpochStart& e, Control&) override;
  void OnStepEnd(const StepEnd& e, Control&) override;
  void OnTrainEpochEnd(const TrainEpochEnd& e, Control&) override;
  void OnEvalStart(const EvalStart& e, Control&) override;
  void OnEvalStepEnd(const EvalStepEnd& e, Control&) override;
  void OnEvalEnd(const EvalEnd& e, Control&) override;
  void OnRunStopped(const RunStopped&, Control&) override { Leave(); }
  void OnRunCancelled(const RunCancelled&, Control&) override { Leave(); }
  void OnRunEnd(const RunEnd& e, Control&) override;

 private:
  void Leave();

  bool every_rank_;
  bool prints_ = true;
  ProgressDisplay display_;
  // Whether an epoch is being trained: an evaluation then is within it.
  bool training_ = false;
  // Prepended to the name of an evaluation in a run; "" outside of runs.
  std::string epoch_;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_PRINTING_PROGRESS_BAR_H_
