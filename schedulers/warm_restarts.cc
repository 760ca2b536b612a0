#include "schedulers/warm_restarts.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>

#include "schedulers/option_check.h"
#include "schedulers/schedule.h"

namespace trainyard {
namespace {

constexpr OptionCheck kCheck("WarmRestarts");

class WarmRestartsSchedule final : public Schedule {
 public:
  WarmRestartsSchedule(int64_t period, int64_t period_mul, Level min)
      : period_(period), period_mul_(period_mul), min_(min) {}

  double ValueAt(int64_t update, double base) const override {
    int64_t n = update, period = period_;
    if (period_mul_ == 1) {
      n %= period;
    } else {
      // In whole numbers: a logarithm would miss restarts by rounding.
      for (; n >= period; period *= period_mul_) n -= period;
    }
    const double min = min_.Of(base);
    return min + (base - min) *
                     (1 + std::cos(std::numbers::pi * static_cast<double>(n) /
                                   static_cast<double>(period))) /
                     2;
  }

 private:
  int64_t period_, period_mul_;
  Level min_;
};

}  // namespace

ScheduleFactory WarmRestarts(WarmRestartsOptions options) {
  kCheck.ResolvablePeriod("period", options.period);
  kCheck.AtLeast("period_mul", options.period_mul, 1);
  const Level min =
      kCheck.ValueOrRatio("min", options.min_value, options.min_ratio, {});
  return [options, min](const RunLength& run) -> std::unique_ptr<Schedule> {
    return std::make_unique<WarmRestartsSchedule>(
        kCheck.Period("period", options.period, run), options.period_mul, min);
  };
}

}  // namespace trainyard
