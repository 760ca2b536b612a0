// Swa is stochastic weight averaging: the mean of the model's weights over the
// last part of training, updated once per epoch or more often. The running
// statistics of batch norms do not fit the averaged weights: recompute them
// with UpdateBatchNorms.
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
// Computes the same numbers as Python's torch.optim.swa_utils. Swap, state and
// devices: see ModelAverage. Thread-compatible.
#ifndef TRAINYARD_FINETUNING_SWA_H_
#define TRAINYARD_FINETUNING_SWA_H_

#include <c10/core/Device.h>
#include <c10/util/FunctionRef.h>

#include <optional>

#include "finetuning/model_average.h"

namespace trainyard {

class Swa final : public ModelAverage {
 public:
  // `device` is where the mean is stored; unset: on the model's device.
  explicit Swa(const AveragedTensors& model,
               std::optional<at::Device> device = std::nullopt);

  // Adds the model's current values to the mean. The first update copies them.
  // REQUIRES: no Swap of this average exists.
  void Update();
};

// Sets the running statistics of every BatchNorm1d, 2d and 3d to the mean over
// the batches that `pass` runs through the model. `pass` is called once,
// without gradients, with batch norms in training mode and all other modules in
// evaluation mode; modes and momenta are restored afterwards. Throws
// c10::ValueError if the model has no batch norm with statistics, or if no
// batch went through one.
void UpdateBatchNorms(torch::nn::Module& model, c10::function_ref<void()> pass);

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_SWA_H_
