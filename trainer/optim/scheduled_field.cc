#include "trainer/optim/scheduled_field.h"

namespace trainyard {

ScheduledField::ScheduledField(Optimizer& optimizer, std::string_view field,
                               const Schedule& schedule)
    : schedule_(schedule) {
  for (size_t group = 0; group < optimizer.num_groups(); ++group) {
    double& value = optimizer.Field(group, field);
    groups_.push_back({.value = &value, .base = value});
  }
}

void ScheduledField::Apply(int64_t update) {
  for (const Group& group : groups_)
    *group.value = schedule_.ValueAt(update, group.base);
}

void ScheduledField::Restore() {
  for (const Group& group : groups_) *group.value = group.base;
}

}  // namespace trainyard
