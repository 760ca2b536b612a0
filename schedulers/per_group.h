// Which schedule each param group follows: the same, or one each.
//
//   GroupSchedules one = Cosine();
//   GroupSchedules each = PerGroup({Cosine(), Constant()});
//   std::vector<std::unique_ptr<Schedule>> schedules = each.Resolve(run, 2);
//   schedules[1]->ValueAt(update, base_of_group_1);
//
// What a function that schedules groups should take. It is not a schedule, so
// that it cannot end up inside one, where there are no groups.
//
// Thread-safe: it does not change.
#ifndef TRAINYARD_SCHEDULERS_PER_GROUP_H_
#define TRAINYARD_SCHEDULERS_PER_GROUP_H_

#include <concepts>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "schedulers/schedule.h"

namespace trainyard {

class GroupSchedules {
 public:
  // No schedule: fields stay as configured.
  GroupSchedules() = default;
  // The same schedule for every group.
  GroupSchedules(ScheduleFactory schedule);  // NOLINT: converts on purpose
  // The same from a function or lambda, which C++ would not convert twice.
  template <class F>
    requires(std::convertible_to<F, ScheduleFactory> &&
             !std::same_as<F, ScheduleFactory>)
  GroupSchedules(F schedule)  // NOLINT: converts on purpose
      : GroupSchedules(ScheduleFactory(std::move(schedule))) {}

  bool empty() const { return schedules_.empty(); }

  // One schedule per group, or none at all if empty(). Throws
  // std::invalid_argument when there are more or fewer than groups, and what
  // the factories throw.
  std::vector<std::unique_ptr<Schedule>> Resolve(const RunLength& run,
                                                 size_t num_groups) const;

 private:
  friend GroupSchedules PerGroup(std::vector<ScheduleFactory> schedules);

  std::vector<ScheduleFactory> schedules_;
  bool shared_ = false;
};

// One schedule per group, in the order of the groups. Throws
// std::invalid_argument for an empty list or a missing schedule.
GroupSchedules PerGroup(std::vector<ScheduleFactory> schedules);

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_PER_GROUP_H_
