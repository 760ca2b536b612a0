// Task is the user's part of training: what one batch means. The trainer does
// the rest.
//
//   class MyTask final : public TaskOf<ImageBatch> {
//    public:
//     explicit MyTask(Net net) : net_(net) { AddModel("net", net.ptr()); }
//     StepOutput TrainStep(const ImageBatch& batch, StepContext&) override {
//       return {.loss = Loss(net_->forward(batch.image), batch.label)};
//     }
//     …
//   };
//
// A task that only returns a loss has backward and update done for it. A task
// with several optimizers may call step.Backward and step.Update itself, in any
// order.
//
// To change how a step of the loop is done, override its method. To do
// something between the steps, write a callback. A task that also derives from
// Callback receives every event before the callbacks do.
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_TASK_H_
#define TRAINYARD_TRAINER_TASK_H_

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tracking/metric_reducer.h"
#include "trainer/control.h"
#include "trainer/data/batch.h"
#include "trainer/data/batch_source.h"
#include "trainer/data/load_options.h"
#include "trainer/events.h"
#include "trainer/model/model.h"
#include "trainer/model/model_tensors.h"
#include "trainer/optim/clip.h"
#include "trainer/optim/optimizer.h"
#include "trainer/run_clock.h"
#include "trainer/schedule_set.h"

namespace torch::nn {
class Module;
}  // namespace torch::nn

namespace trainyard {

// What a step returns. Tensors stay on the device.
struct StepOutput {
  // The mean loss of the batch, a scalar.
  at::Tensor loss;
  // How many records (or tokens) the means are over. Unset: the batch's size.
  // 0: the whole batch is masked; its loss and metrics are ignored, and it adds
  // nothing to gradients and means. REQUIRES: >= 0.
  std::optional<double> weight = std::nullopt;
  // Other means over the same records. REQUIRES: the same names in the same
  // order at every step.
  std::vector<std::pair<std::string, at::Tensor>> metrics = {};
  // The model's outputs of an EvalStep, a row per record, for callbacks that
  // need them. Optional.
  at::Tensor outputs = {};
};

// What a task can do during a step.
class StepContext {
 public:
  virtual ~StepContext() = default;

  virtual const RunClock& clock() const = 0;

  // Requests to the loop, and the other callbacks of the run: Find and Fire.
  virtual Control& control() = 0;

  // Fires ForwardEnd with the model's outputs.
  virtual void ForwardDone(const at::Tensor& outputs) = 0;

  // Adds the gradients of the loss, scaled by the batch's share of the
  // accumulation window. `weight` as in StepOutput.
  virtual void Backward(const at::Tensor& loss,
                        std::optional<double> weight = std::nullopt) = 0;

  // At the end of a window: clips, updates and zeroes the gradients. Otherwise
  // does nothing. Returns whether the parameters changed. Throws
  // c10::ValueError for an optimizer that was not added.
  virtual bool Update(Optimizer& optimizer, const Clip& clip = {}) = 0;

  // Steps the optimizer's schedules that step on `on`. The loop steps the other
  // kinds.
  virtual void StepSchedules(Optimizer& optimizer,
                             StepOn on = StepOn::kRequest) = 0;
};

// An optimizer and the name under which its state is saved.
struct NamedOptimizer {
  std::string name;
  Optimizer* optimizer;
};

class Task {
 public:
  virtual ~Task() = default;

  virtual StepOutput TrainStep(const AnyBatch& batch, StepContext& step) = 0;

  // Called without gradient recording and with the models in evaluation mode.
  virtual StepOutput EvalStep(const AnyBatch& batch, StepContext& step) = 0;

  // ---- Steps of the loop that a task can change. Each is called before the
  // callbacks of its event.

  // Where batches come from: any BatchSource. Default: a Loader over the
  // request's data, in a new random order in each epoch; for evaluation, in
  // order.
  virtual std::unique_ptr<BatchSource> TrainLoader(
      const LoaderRequest& request);
  virtual std::unique_ptr<BatchSource> EvalLoader(const LoaderRequest& request);

  // Called if TrainStep did not call Backward. Default: step.Backward with the
  // returned loss.
  virtual void BackwardStep(const StepOutput& output, StepContext& step);
  // Called for every batch and optimizer if TrainStep did not call Update.
  // Default: step.Update, which does nothing before the end of a window.
  virtual void OptimizerStep(Optimizer& optimizer, const Clip& clip,
                             StepContext& step);
  // Called after an update that was applied. Default: step.StepSchedules of
  // those that step on updates.
  virtual void ScheduleStep(Optimizer& optimizer, StepContext& step);
  // Called after an update, applied or skipped. Default: optimizer.ZeroGrad.
  virtual void ZeroGradStep(Optimizer& optimizer);

  // How to reduce the metrics of all EvalSteps, for those whose mean is not
  // wanted.
  virtual MetricReducers EvalReducers() const { return {}; }

  // Whether EvaluateDataset is called instead of EvalStep; see DatasetTaskOf.
  virtual bool evaluates_dataset() const { return false; }
  virtual Metrics EvaluateDataset(BatchSource& loader, StepContext& step);

  // ---- What the task has.

  // Sets all models to training or evaluation mode.
  void SetTraining(bool training);
  // Moves all models to the device.
  void To(at::Device device);

  // Every parameter and buffer as "<model>.<name>", in name order; without
  // "<model>." if there is only one model.
  std::vector<NamedTensor> NamedTensors() const;

  const std::vector<NamedOptimizer>& optimizers() const { return optimizers_; }

  // The models in the order in which they were added.
  std::vector<ModelTensors> Models() const;

 protected:
  // Adds a model, so that checkpoints have its weights. Every parameter that an
  // optimizer trains must be in one. Throws c10::ValueError for a name that is
  // taken.
  void AddModel(std::string name, std::shared_ptr<torch::nn::Module> model);
  void AddModel(std::string name, std::shared_ptr<Model> model);

  // Adds an optimizer, so that schedules find it and checkpoints have its
  // state. Borrows it. Throws c10::ValueError for a name that is taken.
  void AddOptimizer(std::string name, Optimizer& optimizer);

 private:
  std::vector<std::pair<std::string, std::shared_ptr<Model>>> models_;
  std::vector<NamedOptimizer> optimizers_;
};

// A task whose batches are of type B.
template <BatchType B>
class TaskOf : public Task {
 public:
  virtual StepOutput TrainStep(const B& batch, StepContext& step) = 0;
  virtual StepOutput EvalStep(const B& batch, StepContext& step) = 0;

  StepOutput TrainStep(const AnyBatch& batch, StepContext& step) final {
    return TrainStep(batch.As<B>(), step);
  }
  StepOutput EvalStep(const AnyBatch& batch, StepContext& step) final {
    return EvalStep(batch.As<B>(), step);
  }
};

// A task that evaluates a whole dataset at once, on one device: it overrides
// EvaluateDataset instead of EvalStep. Of several ranks, rank 0 evaluates and
// the others wait.
template <BatchType B>
class DatasetTaskOf : public TaskOf<B> {
 public:
  // Returns the metrics of all batches of the loader, which is before its first
  // batch. Called without gradient recording and with the models in evaluation
  // mode.
  Metrics EvaluateDataset(BatchSource& loader, StepContext& step) override = 0;

  bool evaluates_dataset() const final { return true; }
  StepOutput EvalStep(const B&, StepContext&) final { return {}; }
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_TASK_H_
