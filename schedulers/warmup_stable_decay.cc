#include "schedulers/warmup_stable_decay.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <string>

#include "schedulers/option_check.h"
#include "schedulers/ramp.h"
#include "schedulers/schedule.h"

namespace trainyard {
namespace {

constexpr OptionCheck kCheck("WarmupStableDecay");
using Shape = WarmupStableDecayOptions::Shape;

// 1 at x = 0 and 0 at x = 1.
double Fall(Shape shape, double x) {
  switch (shape) {
    case Shape::kLinear:
      return 1 - x;
    case Shape::kCosine:
      return 0.5 * (1 + std::cos(std::numbers::pi * x));
    case Shape::kOneMinusSqrt:
      return 1 - std::sqrt(x);
  }
  return 0;
}

class WarmupStableDecaySchedule final : public Schedule {
 public:
  WarmupStableDecaySchedule(Shape shape, Ramp warmup, Level min,
                            int64_t decay_start, int64_t decay)
      : shape_(shape),
        warmup_(warmup),
        min_(min),
        decay_start_(decay_start),
        decay_(decay) {}

  double ValueAt(int64_t update, double base) const override {
    if (update < warmup_.updates()) return warmup_.ValueAt(update, base, base);
    if (update < decay_start_) return base;
    const double min = min_.Of(base);
    if (update >= decay_start_ + decay_) return min;
    const double x = static_cast<double>(update - decay_start_) /
                     static_cast<double>(decay_);
    return min + (base - min) * Fall(shape_, x);
  }

 private:
  Shape shape_;
  Ramp warmup_;
  Level min_;
  int64_t decay_start_, decay_;
};

}  // namespace

ScheduleFactory WarmupStableDecay(WarmupStableDecayOptions options) {
  kCheck.Resolvable("warmup", options.warmup);
  kCheck.ResolvablePeriod("decay", options.decay);
  const Level start =
      kCheck.ValueOrRatio("warmup_start", options.warmup_start_value,
                          options.warmup_start_ratio, {});
  const Level min =
      kCheck.ValueOrRatio("min", options.min_value, options.min_ratio, {});
  return [=](const RunLength& run) -> std::unique_ptr<Schedule> {
    const int64_t total = kCheck.Total(run);
    const int64_t warmup = kCheck.WithinRun("warmup", options.warmup, run);
    const int64_t decay = kCheck.PartOrRun("decay", options.decay, run);
    kCheck.FitTogether("warmup", options.warmup, "decay", options.decay, run);
    return std::make_unique<WarmupStableDecaySchedule>(
        options.shape, Ramp(warmup, start), min, total - decay, decay);
  };
}

}  // namespace trainyard
