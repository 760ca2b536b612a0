#include "schedulers/cosine_annealing.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>

#include "schedulers/option_check.h"
#include "schedulers/schedule.h"

namespace trainyard {
namespace {

constexpr OptionCheck kCheck("CosineAnnealing");

class CosineAnnealingSchedule final : public Schedule {
 public:
  CosineAnnealingSchedule(int64_t half_period, Level min)
      : half_period_(half_period), min_(min) {}

  double ValueAt(int64_t update, double base) const override {
    const double min = min_.Of(base);
    // Within one period, so that late updates are as exact as early ones.
    const double n = static_cast<double>(update % (2 * half_period_));
    return min + (base - min) *
                     (1 + std::cos(std::numbers::pi * n /
                                   static_cast<double>(half_period_))) /
                     2;
  }

 private:
  int64_t half_period_;
  Level min_;
};

}  // namespace

ScheduleFactory CosineAnnealing(CosineAnnealingOptions options) {
  if (options.half_period) {
    kCheck.ResolvablePeriod("half_period", *options.half_period);
  }
  const Level min =
      kCheck.ValueOrRatio("min", options.min_value, options.min_ratio, {});
  return [options, min](const RunLength& run) -> std::unique_ptr<Schedule> {
    const int64_t half_period =
        options.half_period
            ? kCheck.Period("half_period", *options.half_period, run)
            : kCheck.Total(run);
    return std::make_unique<CosineAnnealingSchedule>(half_period, min);
  };
}

}  // namespace trainyard
