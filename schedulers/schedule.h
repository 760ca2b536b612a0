// The value of a param-group field (learning rate, weight decay, momentum) over
// a run: a pure function of how many updates were made.
//
//   ScheduleFactory make = Cosine({.warmup = Epochs(1), .min_ratio = 0.01});
//   RunLength run{.num_epochs = 5, .updates_per_epoch = 469};
//   run.total_updates = 5 * 469;
//   std::unique_ptr<Schedule> schedule = make(run);
//   const double lr = schedule->ValueAt(0, 3e-3);  // for the first update
//
// Users hand over factories, because lengths in epochs mean something only once
// a run knows its own. The configured value of each group (`base`) stays with
// the caller, so that one schedule serves any number of groups and holds no
// state to save.
//
// Thread-safe: schedules do not change.
#ifndef TRAINYARD_SCHEDULERS_SCHEDULE_H_
#define TRAINYARD_SCHEDULERS_SCHEDULE_H_

#include <cstdint>
#include <functional>
#include <memory>

namespace trainyard {

// How long a run will be; known when it starts. 0 is not known: schedules that
// need the number then refuse the run.
struct RunLength {
  int64_t num_epochs = 0;
  int64_t updates_per_epoch = 0;
  // The updates of the whole run; fewer than num_epochs * updates_per_epoch
  // where a limit ends it early.
  int64_t total_updates = 0;
  // Batches that make up an epoch, and one evaluation of all sets.
  int64_t batches_per_epoch = 0;
  int64_t eval_batches = 0;
};

class Schedule {
 public:
  virtual ~Schedule() = default;

  // The field's value for update `update` of a group whose configured value is
  // `base`. Updates count from 0: the value is the one used *by* that update,
  // after `update` others. Defined past the end of the run too. Called for
  // every group before every update: must not allocate.
  // REQUIRES: update >= 0.
  virtual double ValueAt(int64_t update, double base) const = 0;
};

// Makes the schedule of one run. Throws std::invalid_argument, naming schedule,
// option and value, for options that do not fit the run.
using ScheduleFactory =
    std::function<std::unique_ptr<Schedule>(const RunLength& run)>;

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_SCHEDULE_H_
