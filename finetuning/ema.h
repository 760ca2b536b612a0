// Ema keeps an exponential moving average of a model's parameters and buffers.
// Usable in any loop:
//
//   Ema ema(*model, {.decay = 0.999});
//   optimizer.step();
//   ema.Update();                       // after every update
//   {
//     const Ema::Swap swapped(ema);     // the model has the averaged weights
//     Evaluate(*model);
//   }                                   // and its own again
//
// The model may be of torch::nn or TorchScript (a ScriptModel). What else it
// does, and Swap, SaveState and State: see ModelAverage. Thread-compatible.
#ifndef TRAINYARD_FINETUNING_EMA_H_
#define TRAINYARD_FINETUNING_EMA_H_

#include <c10/core/Device.h>

#include <optional>

#include "finetuning/ema_decay.h"
#include "finetuning/model_average.h"

namespace trainyard {

class Ema final : public ModelAverage {
 public:
  // Starts from the model's present values, kept on `device`: by default beside
  // the model. An Ema of a model on a GPU that is kept on the host takes none
  // of its memory, and a copy per update.
  explicit Ema(const AveragedTensors& model,
               const EmaDecayOptions& options = {},
               std::optional<at::Device> device = std::nullopt);

  // Moves the average towards the model. REQUIRES: not swapped.
  void Update();

 private:
  EmaDecay decay_;
};

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_EMA_H_
