// ScheduleSet holds the schedules of a run. Each sets one field of one
// optimizer, and steps with every update of that optimizer, every batch, every
// epoch, or when it is told to; or with every N-th of them.
//
//   ScheduleSet schedules;
//   schedules.Add({"lr", Cosine()}, optimizer, run);
//   schedules.Add({.field = "weight_decay",
//                  .schedule = Linear(),
//                  .step_on = StepOn::kBatch,
//                  .frequency = 10},
//                 optimizer, run);
//   …
//   schedules.Step(StepOn::kUpdate, &optimizer);  // after an update
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

// What a schedule counts.
enum class StepOn { kUpdate, kBatch, kEpoch, kRequest };

// A schedule of one field of an optimizer, e.g. "weight_decay".
struct FieldSchedule {
  std::string field = "lr";
  GroupSchedules schedule;
  // The optimizer's name, as the task added it. Empty: the trainer's own or,
  // without one, the task's first.
  std::string optimizer = {};
  StepOn step_on = StepOn::kUpdate;
  // The metric that a MetricSchedule (OnPlateau) gets after each evaluation.
  std::string metric = "eval_loss";
  // The schedule steps once after this many updates, batches, epochs or
  // requests; its lengths in "updates" are numbers of these steps. Lengths in
  // epochs need a whole number of steps per epoch. REQUIRES: >= 1.
  int64_t frequency = 1;
};

class ScheduleSet final : public Stateful {
 public:
  // Applies the schedule's first value; an empty schedule is left out. Throws
  // c10::ValueError if a group lacks the field, if the field has a schedule
  // already, or if the frequency is below 1; and what the schedule throws if it
  // does not fit the run.
  void Add(const FieldSchedule& schedule, Optimizer& optimizer,
           const RunLength& run);

  // Counts one for the schedules that step on this, of one optimizer or (null)
  // of all.
  void Step(StepOn on, const Optimizer* optimizer = nullptr);

  // Gives each MetricSchedule its metric. Throws c10::ValueError, listing the
  // metrics there are, if that was not measured.
  void Observe(const Metrics& metrics);
  bool has_metric_schedules() const;

  // Puts the configured values back.
  void Restore();

  // The counts, and the state of metric schedules; by optimizer and field.
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
    int64_t frequency;
    std::vector<MetricSchedule*> metric_schedules;
    // Updates, batches, epochs or requests so far.
    int64_t count = 0;

    void Apply() { field.Apply(count / frequency); }
  };
  std::vector<Entry> entries_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_SCHEDULE_SET_H_
