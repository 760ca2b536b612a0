// Schedule is the value of a param-group field (learning rate, weight decay,
// momentum) over a run: a pure function of the number of updates.
//
//   ScheduleFactory make = Cosine({.warmup = Epochs(1), .min_ratio = 0.01});
//   RunLength run{.num_epochs = 5, .updates_per_epoch = 469};
//   run.total_updates = 5 * 469;
//   std::unique_ptr<Schedule> schedule = make(run);
//   const double lr = schedule->ValueAt(0, 3e-3);  // for the first update
//
// Users give factories, because a length in epochs can be converted only when
// the length of the run is known. The caller keeps the configured value of each
// group (`base`), so that one schedule serves any number of groups and has no
// state to save.
//
// Thread-safe: schedules are immutable.
#ifndef TRAINYARD_SCHEDULERS_SCHEDULE_H_
#define TRAINYARD_SCHEDULERS_SCHEDULE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace trainyard {

// The length of a run, at its start. Unset: unknown; a schedule that needs the
// number then throws.
struct RunLength {
  std::optional<int64_t> num_epochs = std::nullopt;
  std::optional<int64_t> updates_per_epoch = std::nullopt;
  // The updates of the whole run; fewer than num_epochs * updates_per_epoch
  // where a limit ends it early.
  std::optional<int64_t> total_updates = std::nullopt;
  // Batches that make up an epoch, and one evaluation of all sets.
  std::optional<int64_t> batches_per_epoch = std::nullopt;
  std::optional<int64_t> eval_batches = std::nullopt;
};

class Schedule {
 public:
  virtual ~Schedule() = default;

  // The field's value for update `update` of a group whose configured value is
  // `base`. Updates count from 0: it is the value that this update uses, after
  // `update` others. Also defined after the end of the run. Must not allocate:
  // it is called for every group before every update.
  // REQUIRES: update >= 0.
  virtual double ValueAt(int64_t update, double base) const = 0;
};

// Makes the schedule of one run. Throws std::invalid_argument, naming schedule,
// option and value, for options that do not fit the run.
using ScheduleFactory =
    std::function<std::unique_ptr<Schedule>(const RunLength& run)>;

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_SCHEDULE_H_
