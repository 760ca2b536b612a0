#include "schedulers/inverse_sqrt.h"

#include <cmath>
#include <cstdint>
#include <memory>

#include "schedulers/option_check.h"
#include "schedulers/ramp.h"
#include "schedulers/schedule.h"

namespace trainyard {
namespace {

constexpr OptionCheck kCheck("InverseSqrt");

class InverseSqrtSchedule final : public Schedule {
 public:
  InverseSqrtSchedule(Ramp warmup, int64_t timescale)
      : warmup_(warmup), timescale_(static_cast<double>(timescale)) {}

  double ValueAt(int64_t update, double base) const override {
    if (update < warmup_.updates()) return warmup_.ValueAt(update, base, base);
    const double n = static_cast<double>(update - warmup_.updates());
    return base * std::sqrt(timescale_ / (timescale_ + n));
  }

 private:
  Ramp warmup_;
  double timescale_;
};

}  // namespace

ScheduleFactory InverseSqrt(InverseSqrtOptions options) {
  kCheck.Resolvable("warmup", options.warmup);
  const Level start =
      kCheck.ValueOrRatio("warmup_start", options.warmup_start_value,
                          options.warmup_start_ratio, {});
  if (options.timescale) {
    kCheck.ResolvablePeriod("timescale", *options.timescale);
  } else if (options.warmup.amount == 0) {
    kCheck.Fail("timescale is not set and warmup is 0, want one of them");
  }
  return [options, start](const RunLength& run) -> std::unique_ptr<Schedule> {
    const int64_t warmup = kCheck.WithinRun("warmup", options.warmup, run);
    const int64_t timescale =
        options.timescale ? kCheck.Period("timescale", *options.timescale, run)
                          : kCheck.Period("warmup", options.warmup, run);
    return std::make_unique<InverseSqrtSchedule>(Ramp(warmup, start),
                                                 timescale);
  };
}

}  // namespace trainyard
