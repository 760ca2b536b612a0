#include "finetuning/ema_decay.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace trainyard {
namespace {

void Check(bool good, const char* field, double value, const char* wanted) {
  if (good) return;
  throw std::invalid_argument("EmaDecay: " + std::string(field) + " is " +
                              std::to_string(value) + "; it must be " + wanted);
}

}  // namespace

EmaDecay::EmaDecay(const EmaDecayOptions& options) : options_(options) {
  Check(options.decay >= 0 && options.decay <= 1, "decay", options.decay,
        "from 0 to 1");
  Check(std::isfinite(options.gamma) && options.gamma > 0, "gamma",
        options.gamma, "above 0");
  Check(std::isfinite(options.power) && options.power > 0, "power",
        options.power, "above 0");
}

double EmaDecay::At(int64_t update) const {
  const auto n = static_cast<double>(update);
  switch (options_.warmup) {
    case EmaWarmup::kNone:
      return options_.decay;
    case EmaWarmup::kRamp:
      return std::min(options_.decay, 1 - std::pow(1 + (n - 1) / options_.gamma,
                                                   -options_.power));
    case EmaWarmup::kPower:
      return std::min(options_.decay, std::pow(1 - 1 / n, options_.gamma + 1));
  }
  return options_.decay;
}

}  // namespace trainyard
