#include "trainer/data/sample_random.h"

#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

namespace trainyard {
namespace {

constexpr uint64_t kStep = 0x9E3779B97F4A7C15ULL;

// The finaliser of splitmix64.
uint64_t Mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

}  // namespace

uint64_t EpochKey(uint64_t seed, int64_t epoch) {
  return Mix(seed + (static_cast<uint64_t>(epoch) + 1) * kStep);
}

uint64_t SampleKey(uint64_t seed, int64_t epoch, int64_t index) {
  return EpochKey(EpochKey(seed, epoch), index);
}

uint64_t SampleRandom::Bits() {
  state_ += kStep;
  return Mix(state_);
}

double SampleRandom::Uniform() {
  return static_cast<double>(Bits() >> 11) * 0x1p-53;
}

double SampleRandom::Uniform(double low, double high) {
  return low + (high - low) * Uniform();
}

int64_t SampleRandom::Below(int64_t end) {
  if (end < 1) {
    throw std::invalid_argument(
        "SampleRandom: Below needs an end of at least 1, given " +
        std::to_string(end));
  }
  const auto count = static_cast<uint64_t>(end);
  // Reject what is above the last multiple of `count`: it would favour small
  // numbers.
  const uint64_t excess = (0 - count) % count;
  uint64_t bits = Bits();
  while (bits < excess) bits = Bits();
  return static_cast<int64_t>(bits % count);
}

double SampleRandom::Normal() {
  const double radius = std::sqrt(-2 * std::log(1 - Uniform()));
  return radius * std::cos(2 * std::numbers::pi * Uniform());
}

// Marsaglia and Tsang's method.
double SampleRandom::Gamma(double shape) {
  if (shape < 1) {
    const double power = 1 - Uniform();
    return Gamma(shape + 1) * std::pow(power, 1 / shape);
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = Normal();
    const double v = std::pow(1 + c * x, 3);
    if (v <= 0) continue;
    if (std::log(1 - Uniform()) < x * x / 2 + d - d * v + d * std::log(v)) {
      return d * v;
    }
  }
}

double SampleRandom::Beta(double a, double b) {
  if (!(a > 0 && b > 0)) {
    throw std::invalid_argument(
        "SampleRandom: Beta needs two numbers above 0, given " +
        std::to_string(a) + " and " + std::to_string(b));
  }
  const double x = Gamma(a);
  const double y = Gamma(b);
  // If a and b are tiny, both may round to 0: the result is 0 or 1 then.
  return x + y > 0 ? x / (x + y) : static_cast<double>(Chance(a / (a + b)));
}

}  // namespace trainyard
