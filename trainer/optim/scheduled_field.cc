#include "trainer/optim/scheduled_field.h"

#include <utility>

namespace trainyard {

ScheduledField::ScheduledField(Optimizer& optimizer, std::string_view field,
                               const GroupSchedules& schedules,
                               const RunLength& run)
    : optimizer_(optimizer), field_(field) {
  size_t group = 0;
  for (auto& schedule : schedules.Resolve(run, optimizer.num_groups())) {
    double& value = optimizer.Field(group++, field);
    groups_.push_back(
        {.value = &value, .base = value, .schedule = std::move(schedule)});
  }
  num_schedules_ = groups_.size();
}

void ScheduledField::TakeInNewGroups() {
  if (groups_.empty()) return;
  while (groups_.size() < optimizer_.num_groups()) {
    const size_t group = groups_.size();
    // Not the current value: in a resumed run that is a scheduled one.
    groups_.push_back({.value = &optimizer_.Field(group, field_),
                       .base = optimizer_.InitialField(group, field_),
                       .schedule = groups_.back().schedule});
  }
}

void ScheduledField::Apply(int64_t update) {
  TakeInNewGroups();
  for (const Group& group : groups_) {
    *group.value = group.schedule->ValueAt(update, group.base);
  }
}

std::vector<MetricSchedule*> ScheduledField::MetricSchedules() {
  std::vector<MetricSchedule*> found;
  for (size_t i = 0; i < num_schedules_; ++i) {
    if (auto* metric =
            dynamic_cast<MetricSchedule*>(groups_[i].schedule.get())) {
      found.push_back(metric);
    }
  }
  return found;
}

void ScheduledField::Restore() {
  for (const Group& group : groups_) *group.value = group.base;
}

}  // namespace trainyard
