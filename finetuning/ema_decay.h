// How much of the average an update keeps. Early in a run a high decay would
// hold on to the initial weights; the two ramps let go of them first.
//
//   EmaDecay decay({.decay = 0.999, .warmup = EmaWarmup::kRamp});
//   decay.At(1);      // for the first update
//
// Free of libtorch. Thread-safe: const.
#ifndef TRAINYARD_FINETUNING_EMA_DECAY_H_
#define TRAINYARD_FINETUNING_EMA_DECAY_H_

#include <cstdint>

namespace trainyard {

enum class EmaWarmup {
  // The same decay from the first update on.
  kNone,
  // 1 - (1 + (n - 1) / gamma)^-power, up to the decay: timm's ModelEmaV3, whose
  // first update copies the model.
  kRamp,
  // (1 - 1 / n)^(gamma + 1), up to the decay: the power function of Karras et
  // al., "Analyzing and Improving the Training Dynamics of Diffusion Models".
  kPower,
};

struct EmaDecayOptions {
  // What an update keeps of the average. REQUIRES: 0 <= decay <= 1.
  double decay = 0.9999;
  EmaWarmup warmup = EmaWarmup::kNone;
  // REQUIRES: > 0.
  double gamma = 1;
  // Of kRamp only. REQUIRES: > 0.
  double power = 2.0 / 3;
};

class EmaDecay {
 public:
  // Throws std::invalid_argument, naming the field, for one out of range.
  explicit EmaDecay(const EmaDecayOptions& options = {});

  // For the nth update, counted from 1. REQUIRES: update >= 1.
  double At(int64_t update) const;

 private:
  EmaDecayOptions options_;
};

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_EMA_DECAY_H_
