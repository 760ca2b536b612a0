// StepRunner trains on one batch at a time: forward, loss, backward, and at the
// end of an accumulation window the update. It is the inside of the trainer's
// loop, usable in another.
//
//   StepRunner runner({task, {&optimizer}, backend, handler, state},
//                     ClipNorm(1), &schedules);
//   const StepOutput output = runner.Run(batch, /*batches_left=*/10);
//
// Thread-compatible. Borrows all it is given.
#ifndef TRAINYARD_TRAINER_LOOP_STEP_RUNNER_H_
#define TRAINYARD_TRAINER_LOOP_STEP_RUNNER_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/backend.h"
#include "callbacks/callback_handler.h"
#include "trainer/data/batch.h"
#include "trainer/loop/grad_window.h"
#include "trainer/optim/clip.h"
#include "trainer/optim/optimizer.h"
#include "trainer/schedule_set.h"
#include "trainer/step_state.h"
#include "trainer/task.h"

namespace trainyard {

class StepRunner final : public StepContext {
 public:
  struct Parts {
    Task& task;
    // All of the run; updated for tasks that do not call Update themselves.
    std::vector<Optimizer*> optimizers;
    Backend& backend;
    CallbackHandler& callbacks;
    // Counts what is done.
    StepState& state;
  };

  // `schedules` may be null.
  StepRunner(Parts parts, Clip clip, ScheduleSet* schedules = nullptr);

  // Trains on the batch. `batches_left` of the epoch count this one: the last
  // ends a window. `all_samples` are those of all processes' batches; -1: as
  // many on each. The output's weight is filled in.
  StepOutput Run(const AnyBatch& batch, int64_t batches_left,
                 int64_t all_samples = -1);

  // A loss that is NaN or infinite on any process drops the update of its
  // window on all of them; its gradients are zeroed. The loss is looked at on
  // the CPU only: elsewhere reading it would wait for the device, and a
  // callback that reads it asks for the same by Control's
  // RequestStopAndDiscard.

  // Whether the last batch ended a window whose update was dropped. The same on
  // all processes.
  bool update_dropped() const { return update_dropped_; }
  // Windows in a row, up to the last one, whose update was dropped.
  int64_t dropped_in_a_row() const { return dropped_in_a_row_; }
  // Whether the last batch's loss on this process is not finite.
  bool batch_dropped() const { return batch_dropped_; }
  // The first loss of the window on this process that is not finite: its batch
  // of the epoch, from 1, and its value. None if all are.
  struct BadLoss {
    int64_t batch = 0;
    double value = 0;
  };
  const std::optional<BadLoss>& bad_loss() const { return bad_loss_; }

  // Whether gradients of an unfinished window are there.
  bool in_window() const { return !is_boundary_; }
  // The window, for a run that is saved within one; its gradients are the
  // parameters' own.
  State SaveState() const;
  void LoadState(const State& state);

  const StepState& state() const override { return parts_.state; }
  void ForwardDone(const at::Tensor& outputs) override;
  void Backward(const at::Tensor& loss, std::optional<double> weight) override;
  bool Update(Optimizer& optimizer, const Clip& clip) override;
  void StepSchedules(Optimizer& optimizer, StepOn on) override;

 private:
  // Notes a loss that is not finite.
  void CheckFinite(const at::Tensor& loss);

  Parts parts_;
  Clip clip_;
  ScheduleSet* schedules_;
  GradWindow window_;
  double reference_ = 1;
  std::optional<BadLoss> bad_loss_;
  int64_t dropped_in_a_row_ = 0;

  // Of the current step.
  const AnyBatch* batch_ = nullptr;
  bool is_boundary_ = true;
  std::optional<double> share_;
  bool batch_dropped_ = false;
  bool update_dropped_ = false;
  // The batch has records, but none of them counts.
  bool masked_ = false;
  bool update_called_ = false;
  bool updated_ = false;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_LOOP_STEP_RUNNER_H_
