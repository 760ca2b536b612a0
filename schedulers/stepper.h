// A schedule that counts for itself, for loops without a count of their own.
//
//   ScheduleStepper lr(Cosine({.warmup = Updates(100)}), run, {3e-3, 3e-4});
//   for (...) {
//     SetLearningRates(lr.values());  // one per group, for the next update
//     optimizer.step();
//     lr.Step();
//   }
//
// Its whole state is the count: save updates(), and Restore() it.
//
// Thread-compatible: one thread steps and reads.
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

  // How many updates were made.
  int64_t updates() const { return updates_; }

  // To be called after every update.
  void Step() { Restore(updates_ + 1); }

  // As after `updates` steps. Throws std::invalid_argument for a negative
  // count.
  void Restore(int64_t updates);

 private:
  std::vector<std::unique_ptr<Schedule>> schedules_;
  std::vector<double> bases_, values_;
  int64_t updates_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_STEPPER_H_
