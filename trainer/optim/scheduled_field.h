// ScheduledField applies schedules to one field of an optimizer: one schedule
// to all groups, or one to each. A schedule starts from the initial value of
// the group. A group that is added later gets the schedule of the last group.
//
//   ScheduledField lr(optimizer, "lr", Cosine(), run);
//   lr.Apply(update);  // before update number `update`, counted from 0
//
// Thread-compatible. The optimizer must outlive it.
#ifndef TRAINYARD_TRAINER_OPTIM_SCHEDULED_FIELD_H_
#define TRAINYARD_TRAINER_OPTIM_SCHEDULED_FIELD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "schedulers/metric_schedule.h"
#include "schedulers/per_group.h"
#include "schedulers/schedule.h"
#include "trainer/optim/optimizer.h"

namespace trainyard {

class ScheduledField {
 public:
  // Throws c10::ValueError if a group lacks the field and std::invalid_argument
  // if there are several schedules, but not one for each group.
  ScheduledField(Optimizer& optimizer, std::string_view field,
                 const GroupSchedules& schedules, const RunLength& run);

  // Sets the field of all groups to their values at an update.
  void Apply(int64_t update);

  // Returns the schedules that depend on a metric, one per group.
  std::vector<MetricSchedule*> MetricSchedules();

  // Restores the initial values.
  void Restore();

 private:
  struct Group {
    double* value;
    double base;
    std::shared_ptr<Schedule> schedule;
  };
  void TakeInNewGroups();

  Optimizer& optimizer_;
  std::string field_;
  size_t num_schedules_ = 0;
  std::vector<Group> groups_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_SCHEDULED_FIELD_H_
