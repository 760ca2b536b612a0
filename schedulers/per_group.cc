#include "schedulers/per_group.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "schedulers/option_check.h"
#include "schedulers/schedule.h"

namespace trainyard {
namespace {

constexpr OptionCheck kCheck("PerGroup");

}  // namespace

GroupSchedules::GroupSchedules(ScheduleFactory schedule) : shared_(true) {
  if (schedule) schedules_.push_back(std::move(schedule));
}

std::vector<std::unique_ptr<Schedule>> GroupSchedules::Resolve(
    const RunLength& run, size_t num_groups) const {
  std::vector<std::unique_ptr<Schedule>> made;
  if (empty()) return made;
  if (!shared_ && schedules_.size() != num_groups) {
    kCheck.Fail("there are " + std::to_string(schedules_.size()) +
                " schedules for " + std::to_string(num_groups) +
                " param groups");
  }
  for (size_t group = 0; group < num_groups; ++group) {
    made.push_back(schedules_[shared_ ? 0 : group](run));
  }
  return made;
}

GroupSchedules PerGroup(std::vector<ScheduleFactory> schedules) {
  if (schedules.empty()) kCheck.Fail("the list of schedules is empty");
  for (size_t i = 0; i < schedules.size(); ++i) {
    if (!schedules[i]) {
      kCheck.Fail("schedule " + std::to_string(i + 1) + " is missing");
    }
  }
  GroupSchedules made;
  made.schedules_ = std::move(schedules);
  return made;
}

}  // namespace trainyard
