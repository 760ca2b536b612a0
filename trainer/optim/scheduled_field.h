// ScheduledField applies schedules to one field of an optimizer: one to every
// group, or one to each, always from the group's own configured value. A group
// that the optimizer is given later follows the last one's schedule.
//
//   ScheduledField lr(optimizer, "lr", Cosine(), run);
//   lr.Apply(update);      // before update number `update`, counted from 0
//
// Thread-compatible. Borrows the optimizer.
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
  // Throws if a group lacks the field, or if there are not as many schedules as
  // groups.
  ScheduledField(Optimizer& optimizer, std::string_view field,
                 const GroupSchedules& schedules, const RunLength& run);

  void Apply(int64_t update);

  // Those of its schedules that want to be shown a metric, one per group.
  std::vector<MetricSchedule*> MetricSchedules();

  // Puts the configured values back.
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
