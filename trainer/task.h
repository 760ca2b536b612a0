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
// A task that returns a loss and no more gets backward and update done for it.
// One that drives several optimizers calls step.Backward and step.Update
// itself, in any order.
//
// A step of the loop that should go another way is a method to override; what
// is to happen between the steps is a callback. A task that also derives from
// Callback hears every event before the callbacks do.
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
#include "trainer/data/batch.h"
#include "trainer/data/dataset.h"
#include "trainer/data/loader.h"
#include "trainer/events.h"
#include "trainer/model/model.h"
#include "trainer/model/model_tensors.h"
#include "trainer/optim/clip.h"
#include "trainer/optim/optimizer.h"
#include "trainer/schedule_set.h"
#include "trainer/step_state.h"

namespace torch::nn {
class Module;
}  // namespace torch::nn

namespace trainyard {

// What a step gives back. Tensors stay on the device.
struct StepOutput {
  // The mean loss of the batch, a scalar.
  at::Tensor loss;
  // How many records (or tokens) the means are over. Unset: the batch's size.
  // 0: none, the whole batch is masked; then its loss and metrics may be
  // anything, and it adds nothing to gradients and means. REQUIRES: >= 0.
  std::optional<double> weight = std::nullopt;
  // Other means over the same records, by name, in the same order at every
  // step.
  std::vector<std::pair<std::string, at::Tensor>> metrics = {};
  // Of an EvalStep: what the model made of the records, a row each, for
  // callbacks that want it. May be left out.
  at::Tensor outputs = {};
};

// What a task may ask for during a step.
class StepContext {
 public:
  virtual ~StepContext() = default;

  virtual const StepState& state() const = 0;

  // Tells the callbacks of OnForwardEnd that the outputs are there.
  virtual void ForwardDone(const at::Tensor& outputs) = 0;

  // Adds the gradients of the loss, its share of the accumulation window.
  // `weight` as in StepOutput.
  virtual void Backward(const at::Tensor& loss,
                        std::optional<double> weight = std::nullopt) = 0;

  // At a window's end: clips, updates and zeroes the gradients. Before it:
  // nothing. Returns whether the parameters changed. Throws c10::ValueError for
  // an optimizer that was not added.
  virtual bool Update(Optimizer& optimizer, const Clip& clip = {}) = 0;

  // Moves on the optimizer's schedules of this kind; those of the other kinds
  // move by themselves.
  virtual void StepSchedules(Optimizer& optimizer,
                             StepOn on = StepOn::kRequest) = 0;
};

// What a loader is made for.
struct LoaderRequest {
  DatasetPtr data;
  int64_t batch_size = 0;
  uint64_t seed = 0;
  // This process among those that share the data.
  int64_t rank = 0;
  int64_t num_ranks = 1;
};

// An optimizer and the name that its state is saved under.
struct NamedOptimizer {
  std::string name;
  Optimizer* optimizer;
};

class Task {
 public:
  virtual ~Task() = default;

  virtual StepOutput TrainStep(const AnyBatch& batch, StepContext& step) = 0;

  // Called without gradients and with the models in evaluation mode.
  virtual StepOutput EvalStep(const AnyBatch& batch, StepContext& step) = 0;

  // ---- Steps of the loop that may go another way. Each is done before the
  // callbacks of its event are called.

  // By default shuffled anew in each epoch; and for evaluation in order.
  virtual Loader TrainLoader(const LoaderRequest& request);
  virtual Loader EvalLoader(const LoaderRequest& request);

  // For a TrainStep that did not call Backward itself: step.Backward of the
  // returned loss.
  virtual void BackwardStep(const StepOutput& output, StepContext& step);
  // For a TrainStep that did not call Update itself, once per optimizer:
  // step.Update. Called for every batch: Update knows where a window ends.
  virtual void OptimizerStep(Optimizer& optimizer, const Clip& clip,
                             StepContext& step);
  // After an update that was not skipped: step.StepSchedules, of those that
  // step on updates.
  virtual void ScheduleStep(Optimizer& optimizer, StepContext& step);
  // After an update, skipped or not.
  virtual void ZeroGradStep(Optimizer& optimizer);

  // How the metrics that EvalStep returns become those of an evaluation, if not
  // by their means.
  virtual MetricReducers EvalReducers() const { return {}; }

  // Whether EvaluateDataset takes the place of EvalStep; see DatasetTaskOf.
  virtual bool evaluates_dataset() const { return false; }
  virtual Metrics EvaluateDataset(Loader& loader, StepContext& step);

  // ---- What the task has.

  // All models to training or evaluation mode.
  void SetTraining(bool training);
  // All models to the device.
  void To(at::Device device);

  // Every parameter and buffer of every model as "<model>.<name>", in name
  // order. A single model's name is left out.
  std::vector<NamedTensor> State() const;

  const std::vector<NamedOptimizer>& optimizers() const { return optimizers_; }

  // The models in the order they were added, as backends prepare them.
  std::vector<ModelTensors> Models() const;

 protected:
  // Names a model of the task, so that its weights are saved: all parameters
  // that an optimizer trains must be in one. Throws c10::ValueError for a name
  // twice.
  void AddModel(std::string name, std::shared_ptr<torch::nn::Module> model);
  void AddModel(std::string name, std::shared_ptr<Model> model);

  // Names an optimizer, so that schedules find it and its state is saved.
  // Borrows it. Throws c10::ValueError for a name twice.
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

// A task that evaluates a whole dataset at once, on one device, instead of
// batch by batch: it has EvaluateDataset and no EvalStep. Of several processes
// rank 0 does it; the others wait for as long as it takes.
template <BatchType B>
class DatasetTaskOf : public TaskOf<B> {
 public:
  // The metrics of all that the loader gives; it stands before its first batch,
  // and gives AnyBatch. Called without gradients and with the models in
  // evaluation mode.
  Metrics EvaluateDataset(Loader& loader, StepContext& step) override = 0;

  bool evaluates_dataset() const final { return true; }
  StepOutput EvalStep(const B&, StepContext&) final { return {}; }
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_TASK_H_
