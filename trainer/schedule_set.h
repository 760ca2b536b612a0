// ScheduleSet is all schedules of a run: each sets one field of one optimizer,
// and moves on with every update of that optimizer, every batch, every epoch,
// or when it is told to.
//
//   ScheduleSet schedules;
//   schedules.Add({"lr", Cosine()}, optimizer, run);
//   …
//   schedules.Step(StepOn::kUpdate, &optimizer);      // after an update
//
// Thread-compatible. Borrows the optimizers.
#ifndef TRAINYARD_TRAINER_SCHEDULE_SET_H_
#define TRAINYARD_TRAINER_SCHEDULE_SET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "schedulers/per_group.h"
#include "schedulers/schedule.h"
#include "trainer/events.h"
#include "trainer/optim/optimizer.h"
#include "trainer/optim/scheduled_field.h"
#include "trainer/state.h"

namespace trainyard {

// What a schedule counts. Its lengths in "updates" are in this unit.
enum class StepOn { kUpdate, kBatch, kEpoch, kRequest };

// A schedule of one field of an optimizer, e.g. "weight_decay".
struct FieldSchedule {
  std::string field = "lr";
  GroupSchedules schedule;
  // The optimizer's name, as the task added it. Empty: the trainer's own or,
  // without one, the task's first.
  std::string optimizer = {};
  StepOn step_on = StepOn::kUpdate;
  // What a MetricSchedule (OnPlateau) is shown after each evaluation.
  std::string metric = "eval_loss";
};

class ScheduleSet final : public Stateful {
 public:
  // Applies the schedule's first value; an empty schedule is left out. Throws
  // if a group lacks the field, it has a schedule already, or the schedule does
  // not fit the run.
  void Add(const FieldSchedule& schedule, Optimizer& optimizer,
           const RunLength& run);

  // Moves on the schedules that step on this, of one optimizer or (null) of
  // all.
  void Step(StepOn on, const Optimizer* optimizer = nullptr);

  // Shows each MetricSchedule its metric. Throws c10::ValueError, listing what
  // there is, if that was not measured.
  void Observe(const Metrics& metrics);
  bool has_metric_schedules() const;

  // Puts the configured values back.
  void Restore();

  // The counts, and what metric schedules remember; by optimizer and field.
  State SaveState() const override;
  void LoadState(const State& state) override;

 private:
  struct Entry {
    // Optimizer and field, for state and errors.
    std::string name;
    const Optimizer* optimizer;
    StepOn step_on;
    std::string metric;
    ScheduledField field;
    std::vector<MetricSchedule*> metric_schedules;
    int64_t count = 0;
  };
  std::vector<Entry> entries_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_SCHEDULE_SET_H_
