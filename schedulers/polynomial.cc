#include "schedulers/polynomial.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>

#include "schedulers/option_check.h"
#include "schedulers/schedule.h"

namespace trainyard {
namespace {

constexpr OptionCheck kCheck("Polynomial");

class PolynomialSchedule final : public Schedule {
 public:
  PolynomialSchedule(double power, Level min, int64_t length)
      : power_(power), min_(min), length_(length) {}

  double ValueAt(int64_t update, double base) const override {
    const double left = 1.0 - static_cast<double>(std::min(update, length_)) /
                                  static_cast<double>(length_);
    const double min = min_.Of(base);
    return min + (base - min) * std::pow(left, power_);
  }

 private:
  double power_;
  Level min_;
  int64_t length_;
};

}  // namespace

ScheduleFactory Polynomial(PolynomialOptions options) {
  kCheck.Positive("power", options.power);
  const Level min =
      kCheck.ValueOrRatio("min", options.min_value, options.min_ratio, {});
  if (options.length) kCheck.ResolvablePeriod("length", *options.length);
  return [options, min](const RunLength& run) -> std::unique_ptr<Schedule> {
    return std::make_unique<PolynomialSchedule>(
        options.power, min, kCheck.PartOrRun("length", options.length, run));
  };
}

}  // namespace trainyard
