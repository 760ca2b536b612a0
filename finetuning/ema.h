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
// Floating-point tensors are averaged, all in one kernel call; others
// (counters) are copied. Thread-compatible. Borrows the model's tensors.
#ifndef TRAINYARD_FINETUNING_EMA_H_
#define TRAINYARD_FINETUNING_EMA_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "finetuning/ema_decay.h"
#include "trainer/optim/param_groups.h"

namespace trainyard {

class Ema {
 public:
  // Starts from the model's present values.
  explicit Ema(const torch::nn::Module& model,
               const EmaDecayOptions& options = {});

  Ema(const Ema&) = delete;
  Ema& operator=(const Ema&) = delete;

  // Moves the average towards the model. REQUIRES: not swapped.
  void Update();

  // Forgets the average: the model's present values again.
  void Reset();

  int64_t updates() const { return updates_; }

  // The averages under the model's own names, in name order. Shares memory.
  std::vector<NamedTensor> State() const;

  // While it lives, the model holds the averages and the Ema the model's
  // values.
  class Swap {
   public:
    explicit Swap(Ema& ema);
    ~Swap();
    Swap(const Swap&) = delete;
    Swap& operator=(const Swap&) = delete;

   private:
    Ema& ema_;
  };

 private:
  void Exchange();

  EmaDecay decay_;
  int64_t updates_ = 0;
  bool swapped_ = false;
  std::vector<std::string> names_;
  std::vector<at::Tensor> model_, average_;                // all, side by side
  std::vector<at::Tensor> model_floats_, average_floats_;  // what is averaged
  std::vector<at::Tensor> model_others_, average_others_;  // what is copied
};

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_EMA_H_
