#include "schedulers/step.h"

#include <cmath>
#include <cstdint>
#include <memory>

#include "schedulers/option_check.h"
#include "schedulers/schedule.h"

namespace trainyard {
namespace {

constexpr OptionCheck kCheck("Step");

class StepSchedule final : public Schedule {
 public:
  StepSchedule(double gamma, int64_t every) : gamma_(gamma), every_(every) {}

  double ValueAt(int64_t update, double base) const override {
    return base * std::pow(gamma_, static_cast<double>(update / every_));
  }

 private:
  double gamma_;
  int64_t every_;
};

}  // namespace

ScheduleFactory Step(StepOptions options) {
  kCheck.ResolvablePeriod("every", options.every);
  kCheck.Positive("gamma", options.gamma);
  return [options](const RunLength& run) -> std::unique_ptr<Schedule> {
    return std::make_unique<StepSchedule>(
        options.gamma, kCheck.Period("every", options.every, run));
  };
}

}  // namespace trainyard
