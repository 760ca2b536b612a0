// ModelAverage is what averages of a model over training have in common: a copy
// of its parameters and buffers that moves towards the model, by one kernel
// call for all of them (on the host, by one of our own: average_host.h), and
// takes its place for an evaluation. Ema and Swa are
// such averages:
//
//   {
//     const ModelAverage::Swap swapped(average);  // the model is the average
//     Evaluate(*model);
//   }                                             // and itself again
//
// Floating-point tensors are averaged; others (counters) are copied.
// Thread-compatible. Keeps the model's tensors, not the model.
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

// Every parameter and buffer, named. As an argument, made of a model of either
// kind.
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

  // Forgets the average: the model's present values again.
  void Reset();

  int64_t updates() const { return updates_; }

  // The averages under the model's own names, in name order. Shares memory.
  std::vector<NamedTensor> NamedTensors() const;

  // The averages and the number of updates. Loading throws, and changes
  // nothing, if the model's names or shapes are others.
  trainyard::State SaveState() const override;
  void LoadState(const trainyard::State& state) override;

  // While it lives, the model holds the averages and the average the model's
  // values.
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
  // Named `name` in errors. Starts from the model's present values, kept on
  // `device`: by default beside the model. A model that moves, or changes its
  // type, takes them along.
  ModelAverage(std::string name, const AveragedTensors& model,
               std::optional<at::Device> device);

  // Counts an update and returns its number, from 1. REQUIRES: not swapped.
  int64_t CountUpdate();
  // Goes `weight` of the way to the model: 1 is a copy.
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
  std::vector<at::Tensor> model_, average_;                // all, side by side
  std::vector<at::Tensor> model_floats_, average_floats_;  // what is averaged
  std::vector<at::Tensor> model_others_, average_others_;  // what is copied
};

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_MODEL_AVERAGE_H_
