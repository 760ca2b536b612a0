// Ema keeps an exponential moving average of a model's parameters and buffers.
// It works in any training loop:
//
//   Ema ema(*model, {.decay = 0.999, .warmup = EmaWarmup::kRamp});
//   …
//   optimizer.step();
//   ema.Update();
//   …
//   const Ema::Swap swapped(ema);  // the model holds the averages
//
// The model is a torch::nn module or a trainyard Model (ScriptModel,
// ExportedModel). Swap, state and devices: see ModelAverage. Thread-compatible.
#ifndef TRAINYARD_FINETUNING_EMA_H_
#define TRAINYARD_FINETUNING_EMA_H_

#include <c10/core/Device.h>

#include <optional>

#include "finetuning/ema_decay.h"
#include "finetuning/model_average.h"

namespace trainyard {

class Ema final : public ModelAverage {
 public:
  // Starts from the model's current values. `device` is where the average is
  // stored; unset: on the model's device. An average on the CPU of a model on a
  // GPU needs no GPU memory, but one copy per update.
  explicit Ema(const AveragedTensors& model,
               const EmaDecayOptions& options = {},
               std::optional<at::Device> device = std::nullopt);

  // Moves the average towards the model's current values. REQUIRES: no Swap of
  // this average exists.
  void Update();

 private:
  EmaDecay decay_;
};

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_EMA_H_
