#include "schedulers/lambda.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "schedulers/option_check.h"
#include "schedulers/schedule.h"

namespace trainyard {
namespace {

class LambdaSchedule final : public Schedule {
 public:
  explicit LambdaSchedule(ScheduleFunction function)
      : function_(std::move(function)) {}

  double ValueAt(int64_t update, double base) const override {
    return function_(update, base);
  }

 private:
  ScheduleFunction function_;
};

}  // namespace

ScheduleFactory Lambda(ScheduleFunction function) {
  if (!function) OptionCheck("Lambda").Fail("the function is empty");
  return [function = std::move(function)](
             const RunLength&) -> std::unique_ptr<Schedule> {
    return std::make_unique<LambdaSchedule>(function);
  };
}

}  // namespace trainyard
