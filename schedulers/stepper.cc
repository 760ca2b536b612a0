#include "schedulers/stepper.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "schedulers/option_check.h"
#include "schedulers/per_group.h"
#include "schedulers/schedule.h"

namespace trainyard {
namespace {

constexpr OptionCheck kCheck("ScheduleStepper");

}  // namespace

ScheduleStepper::ScheduleStepper(const GroupSchedules& schedules,
                                 const RunLength& run,
                                 std::vector<double> bases)
    : schedules_(schedules.Resolve(run, bases.size())),
      bases_(std::move(bases)),
      values_(bases_.size()) {
  if (schedules.empty()) kCheck.Fail("there is no schedule");
  Restore(0);
}

void ScheduleStepper::Restore(int64_t updates) {
  kCheck.NotNegative("updates", static_cast<double>(updates));
  updates_ = updates;
  for (size_t group = 0; group < bases_.size(); ++group) {
    values_[group] = schedules_[group]->ValueAt(updates, bases_[group]);
  }
}

}  // namespace trainyard
