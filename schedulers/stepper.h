// ScheduleStepper counts the updates itself, for loops that do not.
//
//   ScheduleStepper lr(PerGroup({Cosine(), Constant()}), run, {3e-3, 1e-4});
//   while (lr.updates() < run.total_updates) {
//     SetLearningRates(lr.values());  // one per group, for the next update
//     lr.Step();
//   }
//
// Its only state is the count: save updates(), and Restore() it.
//
// Thread-compatible.
#ifndef TRAINYARD_SCHEDULERS_STEPPER_H_
#define TRAINYARD_SCHEDULERS_STEPPER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "schedulers/per_group.h"
#include "schedulers/schedule.h"

namespace trainyard {

class ScheduleStepper {
 public:
  // `bases` are the configured values, one per group. Throws
  // std::invalid_argument for no schedule, and as GroupSchedules::Resolve.
  ScheduleStepper(const GroupSchedules& schedules, const RunLength& run,
                  std::vector<double> bases);

  // The values for the next update, one per group.
  const std::vector<double>& values() const { return values_; }

  // The number of updates so far.
  int64_t updates() const { return updates_; }

  // Call it after every update.
  void Step() { Restore(updates_ + 1); }

  // Sets the count. Throws std::invalid_argument for a negative one.
  void Restore(int64_t updates);

 private:
  std::vector<std::unique_ptr<Schedule>> schedules_;
  std::vector<double> bases_, values_;
  int64_t updates_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_STEPPER_H_
