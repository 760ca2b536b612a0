// ScheduledField applies a schedule to one field of an optimizer, in every
// group, each from its own configured value.
//
//   ScheduledField lr(optimizer, "lr", *schedule);
//   lr.Apply(update);      // before update number `update`, counted from 0
//
// Thread-compatible. Borrows optimizer and schedule.
#ifndef TRAINYARD_TRAINER_OPTIM_SCHEDULED_FIELD_H_
#define TRAINYARD_TRAINER_OPTIM_SCHEDULED_FIELD_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "schedulers/schedule.h"
#include "trainer/optim/optimizer.h"

namespace trainyard {

class ScheduledField {
 public:
  // Throws if a group lacks the field.
  ScheduledField(Optimizer& optimizer, std::string_view field,
                 const Schedule& schedule);

  void Apply(int64_t update);

  // Puts the configured values back.
  void Restore();

 private:
  struct Group {
    double* value;
    double base;
  };
  const Schedule& schedule_;
  std::vector<Group> groups_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_SCHEDULED_FIELD_H_
