#include "schedulers/multi_step.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "schedulers/option_check.h"
#include "schedulers/schedule.h"
#include "trainer/train_unit.h"

namespace trainyard {
namespace {

constexpr OptionCheck kCheck("MultiStep");

class MultiStepSchedule final : public Schedule {
 public:
  MultiStepSchedule(double gamma, std::vector<int64_t> at)
      : gamma_(gamma), at_(std::move(at)) {}

  double ValueAt(int64_t update, double base) const override {
    const auto passed = std::upper_bound(at_.begin(), at_.end(), update);
    return base * std::pow(gamma_, static_cast<double>(passed - at_.begin()));
  }

 private:
  double gamma_;
  std::vector<int64_t> at_;  // ascending
};

}  // namespace

ScheduleFactory MultiStep(MultiStepOptions options) {
  if (options.at.amounts.empty()) kCheck.Fail("at is empty");
  kCheck.Resolvable("at", Duration{options.at.unit, options.at.amounts[0]});
  kCheck.Positive("gamma", options.gamma);
  return [options = std::move(options)](
             const RunLength& run) -> std::unique_ptr<Schedule> {
    std::vector<int64_t> at;
    for (const double amount : options.at.amounts) {
      at.push_back(kCheck.Period("at", Duration{options.at.unit, amount}, run));
    }
    return std::make_unique<MultiStepSchedule>(options.gamma, std::move(at));
  };
}

}  // namespace trainyard
