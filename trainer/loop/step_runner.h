// StepRunner trains on one batch at a time: forward, loss, backward and, at the
// end of an accumulation window, the update. It is the inner part of the
// trainer's loop; your own loop may use it too.
//
//   StepRunner runner({task, {&optimizer}, backend, handler, clock},
//                     ClipNorm(1), &schedules);
//   const StepOutput output = runner.Run(batch, /*batches_left=*/10);
//
// Thread-compatible. Borrows everything it is given.
#ifndef TRAINYARD_TRAINER_LOOP_STEP_RUNNER_H_
#define TRAINYARD_TRAINER_LOOP_STEP_RUNNER_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "backends/backend.h"
#include "callbacks/callback_handler.h"
#include "callbacks/step_wrapper.h"
#include "trainer/data/batch.h"
#include "trainer/events.h"
#include "trainer/loop/grad_window.h"
#include "trainer/optim/clip.h"
#include "trainer/optim/optimizer.h"
#include "trainer/run_clock.h"
#include "trainer/schedule_set.h"
#include "trainer/state.h"
#include "trainer/task.h"

namespace trainyard {

class CapturedStep;

class StepRunner final : public StepContext, public Stateful {
 public:
  struct Parts {
    Task& task;
    // All optimizers of the run. StepRunner updates them unless the task calls
    // Update itself.
    std::vector<Optimizer*> optimizers;
    Backend& backend;
    CallbackHandler& callbacks;
    // Counts batches and updates.
    RunClock& clock;
    // What this rank tells the others at the end of a window, along with its
    // gradients. Unset: nothing.
    std::function<RankNote()> note = nullptr;
    // Replays steps as graphs. Null: each step is run.
    CapturedStep* captured = nullptr;
  };

  // `schedules` may be null. Callbacks that are StepWrappers must be added
  // before. Throws c10::ValueError if steps are to be captured and there are
  // any, or windows of several batches.
  StepRunner(Parts parts, Clip clip, ScheduleSet* schedules = nullptr);

  // Trains on the batch. `batches_left` counts the batches of the epoch that
  // are left, this one included: the last one ends a window. `all_samples` are
  // those of all ranks' batches; unset: as many on each rank as here. The
  // output's weight is filled in.
  StepOutput Run(const AnyBatch& batch, int64_t batches_left,
                 std::optional<int64_t> all_samples = std::nullopt);

  // A loss that is NaN or infinite on any rank drops the update of its window
  // on all ranks and zeroes the gradients. Only losses on the CPU are checked:
  // reading one from another device would wait for it. A callback that reads it
  // there has the same effect by Control::RequestStopAndDiscard.

  // Whether the last batch ended a window whose update was dropped. Equal on
  // all ranks.
  bool update_dropped() const { return update_dropped_; }
  // How many windows in a row, up to the last one, had their update dropped.
  int64_t dropped_in_a_row() const { return dropped_in_a_row_; }
  // Whether the loss of the last batch on this rank is not finite.
  bool batch_dropped() const { return batch_dropped_; }
  // The first loss of the window on this rank that is not finite: its batch in
  // the epoch, from 1, and its value. Unset if all are finite.
  struct BadLoss {
    int64_t batch = 0;
    double value = 0;
  };
  const std::optional<BadLoss>& bad_loss() const { return bad_loss_; }

  // Whether the last batch sent a note: Collectives::ReadNotes has those of all
  // ranks.
  bool note_posted() const { return note_posted_; }

  // Whether only the device knows if the last update took place. It is counted,
  // and UpdateEnd fired, in the next window or by ReadOutcomes, which may wait
  // for the device.
  bool outcome_is_open() const { return !open_.empty(); }
  void ReadOutcomes();

  // Whether a window is unfinished: its gradients are not applied yet.
  bool in_window() const { return !is_boundary_; }
  // The window without its gradients, which WindowGradients saves.
  State SaveState() const override;
  void LoadState(const State& state) override;

  const RunClock& clock() const override { return parts_.clock; }
  Control& control() override { return parts_.callbacks.control(); }
  void ForwardDone(const at::Tensor& outputs) override;
  void Backward(const at::Tensor& loss, std::optional<double> weight) override;
  bool Update(Optimizer& optimizer, const Clip& clip) override;
  void StepSchedules(Optimizer& optimizer, StepOn on) override;

 private:
  // Runs the step `inner` inside of all wrappers; `wrap` calls one of them.
  template <class Wrap, class Inner>
  void RunWrapped(const Wrap& wrap, const Inner& inner, size_t from = 0) {
    if (from == wrappers_.size()) return inner();
    wrap(*wrappers_[from], [&] { RunWrapped(wrap, inner, from + 1); });
  }

  // Forward and backward pass of the batch, and their events.
  StepOutput RunPasses(const AnyBatch& batch);
  // The same by a graph. Unset: nothing was done.
  std::optional<StepOutput> ReplayPasses(const AnyBatch& batch);
  StepOutput RunForward(const AnyBatch& inputs);
  void RunBackward(const StepOutput& output);

  // Sends the note, once per window: before its gradients are exchanged, so
  // that it has arrived after them.
  void PostNote();
  // Records a loss that is not finite.
  void CheckFinite(const at::Tensor& loss);
  // After an update: `counted` is whether the window was counted before.
  void FinishUpdate(Optimizer& optimizer, UpdateEnd end, bool& counted);

  Parts parts_;
  Clip clip_;
  ScheduleSet* schedules_;
  std::vector<StepWrapper*> wrappers_;
  GradWindow window_;
  double reference_ = 1;
  std::optional<BadLoss> bad_loss_;
  int64_t dropped_in_a_row_ = 0;
  // Optimizers whose last update is open. All are of one step.
  std::vector<Optimizer*> open_;

  // Of the current step.
  const AnyBatch* batch_ = nullptr;
  bool is_boundary_ = true;
  std::optional<double> share_;
  bool batch_dropped_ = false;
  bool update_dropped_ = false;
  // The batch has records, but none of them counts.
  bool masked_ = false;
  bool note_posted_ = false;
  bool update_called_ = false;
  bool updated_ = false;
  // Open outcomes are of earlier windows.
  bool outcomes_due_ = false;
  // The passes are recorded in a graph and not run; what a replay needs of
  // them.
  bool recording_ = false;
  std::vector<at::Tensor> recorded_outputs_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_LOOP_STEP_RUNNER_H_
