// EmaDecay computes the decay of an exponential moving average for each update.
// A constant high decay keeps the initial weights in the average for a long
// time; the two warm-ups start with a low decay and let it grow.
//
//   EmaDecay decay({.decay = 0.999, .warmup = EmaWarmup::kRamp});
//   const double first = decay.At(1);  // 0: the first update copies the model
//
// Does not depend on libtorch. Thread-safe: immutable.
#ifndef TRAINYARD_FINETUNING_EMA_DECAY_H_
#define TRAINYARD_FINETUNING_EMA_DECAY_H_

#include <cstdint>

namespace trainyard {

enum class EmaWarmup {
  // Constant decay.
  kNone,
  // min(decay, 1 - (1 + (n - 1) / gamma)^-power) in update n, as in timm's
  // ModelEmaV3. The first update copies the model.
  kRamp,
  // min(decay, (1 - 1 / n)^(gamma + 1)) in update n: the power function of
  // Karras et al., "Analyzing and Improving the Training Dynamics of Diffusion
  // Models".
  kPower,
};

struct EmaDecayOptions {
  // The weight of the old average in an update, after warm-up. REQUIRES: 0 <=
  // decay <= 1.
  double decay = 0.9999;
  EmaWarmup warmup = EmaWarmup::kNone;
  // Shape of the warm-up; see EmaWarmup. REQUIRES: > 0.
  double gamma = 1;
  // Exponent of kRamp; other warm-ups ignore it. REQUIRES: > 0.
  double power = 2.0 / 3;
};

class EmaDecay {
 public:
  // Throws std::invalid_argument, naming the field, if one is out of range.
  explicit EmaDecay(const EmaDecayOptions& options = {});

  // Returns the decay of this update, counted from 1. REQUIRES: update >= 1.
  double At(int64_t update) const;

 private:
  EmaDecayOptions options_;
};

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_EMA_DECAY_H_
