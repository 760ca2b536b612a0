#include "trainer/optim/scheduled_field.h"

#include <utility>

namespace trainyard {

ScheduledField::ScheduledField(Optimizer& optimizer, std::string_view field,
                               const GroupSchedules& schedules,
                               const RunLength& run) {
  size_t group = 0;
  for (auto& schedule : schedules.Resolve(run, optimizer.num_groups())) {
    double& value = optimizer.Field(group++, field);
    groups_.push_back(
        {.value = &value, .base = value, .schedule = std::move(schedule)});
  }
}

void ScheduledField::Apply(int64_t update) {
  for (const Group& group : groups_) {
    *group.value = group.schedule->ValueAt(update, group.base);
  }
}

std::vector<MetricSchedule*> ScheduledField::MetricSchedules() {
  std::vector<MetricSchedule*> found;
  for (const Group& group : groups_) {
    if (auto* metric = dynamic_cast<MetricSchedule*>(group.schedule.get())) {
      found.push_back(metric);
    }
  }
  return found;
}

void ScheduledField::Restore() {
  for (const Group& group : groups_) *group.value = group.base;
}

}  // namespace trainyard
