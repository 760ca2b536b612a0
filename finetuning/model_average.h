// ModelAverage is the base class of Ema and Swa: a copy of a model's parameters
// and buffers that is moved towards the model, and can be swapped into the
// model for an evaluation.
//
//   {
//     const ModelAverage::Swap swapped(average);  // the model is the average
//     Evaluate(*model);
//   }  // the model has its own weights again
//
// Floating-point tensors are averaged, all in one kernel call (on the CPU:
// average_host.h); other tensors, such as counters, are copied.
// Thread-compatible. Keeps references to the model's tensors, not to the model.
#ifndef TRAINYARD_FINETUNING_MODEL_AVERAGE_H_
#define TRAINYARD_FINETUNING_MODEL_AVERAGE_H_

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/model/named_tensor.h"
#include "trainer/state.h"

namespace torch::nn {
class Module;
}  // namespace torch::nn

namespace trainyard {

class Model;

// All parameters and buffers of a model, by name. Function parameters of this
// type accept a torch::nn::Module and a Model.
class AveragedTensors {
 public:
  AveragedTensors(const torch::nn::Module& model);  // NOLINT: converts
  AveragedTensors(const Model& model);              // NOLINT: converts

  std::vector<NamedTensor> tensors;
};

class ModelAverage : public Stateful {
 public:
  ModelAverage(const ModelAverage&) = delete;
  ModelAverage& operator=(const ModelAverage&) = delete;

  // Restarts the average from the model's current values.
  void Reset();

  int64_t updates() const { return updates_; }

  // The averages under the model's names, sorted by name. Shares memory with
  // this object.
  std::vector<NamedTensor> NamedTensors() const;

  // The state has the averages and the number of updates. LoadState throws, and
  // changes nothing, if the model's names or shapes differ.
  trainyard::State SaveState() const override;
  void LoadState(const trainyard::State& state) override;

  // Exchanges the values of model and average for its lifetime. Throws
  // c10::Error if another Swap of this average exists.
  class Swap {
   public:
    explicit Swap(ModelAverage& average);
    ~Swap();
    Swap(const Swap&) = delete;
    Swap& operator=(const Swap&) = delete;

   private:
    ModelAverage& average_;
  };

 protected:
  // `name` is used in error messages. Starts from the model's current values.
  // `device` is where the average is stored; unset: on the model's device. If
  // the model moves to another device or type, an average without its own
  // device follows.
  ModelAverage(std::string name, const AveragedTensors& model,
               std::optional<at::Device> device);

  // Counts an update and returns its number, from 1. Throws c10::Error while a
  // Swap exists.
  int64_t CountUpdate();
  // average += weight * (model - average); weight 1 copies the model.
  void MoveTowardsModel(double weight);

 private:
  void Follow();
  void Exchange();
  void CheckNotSwapped(const char* what) const;

  std::string name_;
  std::optional<at::Device> device_;
  int64_t updates_ = 0;
  bool swapped_ = false;
  std::vector<std::string> names_;
  std::vector<at::Tensor> model_, average_;                // same order
  std::vector<at::Tensor> model_floats_, average_floats_;  // averaged
  std::vector<at::Tensor> model_others_, average_others_;  // copied
};

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_MODEL_AVERAGE_H_
