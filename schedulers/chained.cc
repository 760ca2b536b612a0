#include "schedulers/chained.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "schedulers/option_check.h"
#include "schedulers/schedule.h"

namespace trainyard {
namespace {

constexpr OptionCheck kCheck("Chained");

class ChainedSchedule final : public Schedule {
 public:
  explicit ChainedSchedule(std::vector<std::unique_ptr<Schedule>> schedules)
      : schedules_(std::move(schedules)) {}

  double ValueAt(int64_t update, double base) const override {
    double value = base;
    for (const auto& schedule : schedules_) {
      value = schedule->ValueAt(update, value);
    }
    return value;
  }

 private:
  std::vector<std::unique_ptr<Schedule>> schedules_;
};

}  // namespace

ScheduleFactory Chained(std::vector<ScheduleFactory> schedules) {
  if (schedules.empty()) kCheck.Fail("the list of schedules is empty");
  for (size_t i = 0; i < schedules.size(); ++i) {
    if (!schedules[i]) {
      kCheck.Fail("schedule " + std::to_string(i + 1) + " is missing");
    }
  }
  return [schedules = std::move(schedules)](
             const RunLength& run) -> std::unique_ptr<Schedule> {
    std::vector<std::unique_ptr<Schedule>> made;
    for (const ScheduleFactory& make : schedules) made.push_back(make(run));
    return std::make_unique<ChainedSchedule>(std::move(made));
  };
}

}  // namespace trainyard
