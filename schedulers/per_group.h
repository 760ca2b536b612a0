// GroupSchedules holds one schedule for all param groups, or one for each.
//
//   GroupSchedules one = Cosine();
//   GroupSchedules each = PerGroup({Cosine(), Constant()});
//   std::vector<std::unique_ptr<Schedule>> schedules = each.Resolve(run, 2);
//   schedules[1]->ValueAt(update, base_of_group_1);
//
// Functions that schedule groups take this type. It is not a schedule itself,
// so it cannot be part of a composed schedule, which has no groups.
//
// Thread-safe: immutable.
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
  // The same for a function or lambda, which would need two conversions.
  template <class F>
    requires(std::convertible_to<F, ScheduleFactory> &&
             !std::same_as<F, ScheduleFactory>)
  GroupSchedules(F schedule)  // NOLINT: converts on purpose
      : GroupSchedules(ScheduleFactory(std::move(schedule))) {}

  bool empty() const { return schedules_.empty(); }

  // One schedule per group, or an empty list if empty(). Throws
  // std::invalid_argument if the numbers of schedules and groups differ, and
  // what the factories throw.
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
