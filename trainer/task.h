// Task is the user's part of training: what one batch means. The trainer does
// the rest.
//
//   class MyTask final : public TaskOf<ImageBatch> {
//    public:
//     explicit MyTask(Net net) : net_(net) { AddModel("net", net.ptr()); }
//     StepOutput TrainStep(const ImageBatch& batch, StepContext& step) override
//     {
//       return {.loss = Loss(net_->forward(batch.image), batch.label)};
//     }
//     …
//   };
//
// A task that returns a loss and no more gets backward and update done for it.
// One that drives several optimizers calls step.Backward and step.Update
// itself, in any order.
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_TASK_H_
#define TRAINYARD_TRAINER_TASK_H_

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "trainer/data/batch.h"
#include "trainer/model_tensors.h"
#include "trainer/optim/clip.h"
#include "trainer/optim/optimizer.h"
#include "trainer/optim/param_groups.h"
#include "trainer/step_state.h"

namespace torch::nn {
class Module;
}  // namespace torch::nn

namespace trainyard {

// What a step gives back. Tensors stay on the device.
struct StepOutput {
  // The mean loss of the batch, a scalar.
  at::Tensor loss;
  // How many records (or tokens) the means are over. 0: the batch's size.
  double weight = 0;
  // Other means over the same records, by name, in the same order at every
  // step.
  std::vector<std::pair<std::string, at::Tensor>> metrics = {};
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
  virtual void Backward(const at::Tensor& loss, double weight = 0) = 0;

  // At a window's end: clips, updates and zeroes the gradients. Before it:
  // nothing. Returns whether the parameters changed.
  virtual bool Update(Optimizer& optimizer, const Clip& clip = {}) = 0;
};

class Task {
 public:
  virtual ~Task() = default;

  virtual StepOutput TrainStep(const AnyBatch& batch, StepContext& step) = 0;

  // Called without gradients and with the models in evaluation mode.
  virtual StepOutput EvalStep(const AnyBatch& batch, StepContext& step) = 0;

  // All models to training or evaluation mode.
  void SetTraining(bool training);
  // All models to the device.
  void To(at::Device device);

  // Every parameter and buffer of every model as "<model>.<name>", in name
  // order. A single model's name is left out.
  std::vector<NamedTensor> State() const;

  // The models in the order they were added, as backends prepare them.
  std::vector<ModelTensors> Models() const;

 protected:
  // Names a model of the task. REQUIRES: each name once.
  void AddModel(std::string name, std::shared_ptr<torch::nn::Module> model);

 private:
  std::vector<std::pair<std::string, std::shared_ptr<torch::nn::Module>>>
      models_;
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

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_TASK_H_
