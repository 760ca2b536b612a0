#include "schedulers/exponential.h"

#include <cmath>
#include <cstdint>
#include <memory>

#include "schedulers/option_check.h"
#include "schedulers/schedule.h"

namespace trainyard {
namespace {

constexpr OptionCheck kCheck("Exponential");

class ExponentialSchedule final : public Schedule {
 public:
  ExponentialSchedule(double gamma, int64_t every)
      : gamma_(gamma), every_(static_cast<double>(every)) {}

  double ValueAt(int64_t update, double base) const override {
    return base * std::pow(gamma_, static_cast<double>(update) / every_);
  }

 private:
  double gamma_, every_;
};

}  // namespace

ScheduleFactory Exponential(ExponentialOptions options) {
  kCheck.Positive("gamma", options.gamma);
  kCheck.ResolvablePeriod("every", options.every);
  return [options](const RunLength& run) -> std::unique_ptr<Schedule> {
    return std::make_unique<ExponentialSchedule>(
        options.gamma, kCheck.Period("every", options.every, run));
  };
}

}  // namespace trainyard
