// Swa is stochastic weight averaging: the plain mean of the model over the last
// part of training, once per epoch or more often. The model's batch norms have
// statistics of no such model: measure them anew.
//
//   Swa swa(*model);
//   for (int epoch = 0; epoch < epochs; ++epoch) {
//     TrainEpoch();
//     if (epoch >= epochs * 3 / 4) swa.Update();
//   }
//   const Swa::Swap swapped(swa);
//   UpdateBatchNorms(*model, [&] {
//     for (const at::Tensor& input : inputs) model->forward(input);
//   });
//
// The same numbers as Python's torch.optim.swa_utils. What else it does, and
// Swap, SaveState and State: see ModelAverage. Thread-compatible.
#ifndef TRAINYARD_FINETUNING_SWA_H_
#define TRAINYARD_FINETUNING_SWA_H_

#include <c10/core/Device.h>
#include <c10/util/FunctionRef.h>

#include <optional>

#include "finetuning/model_average.h"

namespace trainyard {

class Swa final : public ModelAverage {
 public:
  // The mean is kept on `device`: by default beside the model.
  explicit Swa(const AveragedTensors& model,
               std::optional<at::Device> device = std::nullopt);

  // Takes the model's present values into the mean; the first time they are it.
  // REQUIRES: not swapped.
  void Update();
};

// Statistics of all BatchNorm1d, 2d and 3d in the model become the mean over
// the batches that `pass` puts through it. It is called once, without
// gradients, with the norms in training mode and all else in evaluation mode;
// modes and momenta are restored. Throws c10::ValueError if there is no batch
// norm with statistics, or nothing was put through one.
void UpdateBatchNorms(torch::nn::Module& model, c10::function_ref<void()> pass);

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_SWA_H_
