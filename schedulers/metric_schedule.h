// A schedule that depends on a metric.
//
//   std::unique_ptr<MetricSchedule> schedule =
//       std::make_unique<Plateau>(PlateauOptions{.patience = 2});
//   schedule->Observe(eval_loss);
//
// Thread-compatible.
#ifndef TRAINYARD_SCHEDULERS_METRIC_SCHEDULE_H_
#define TRAINYARD_SCHEDULERS_METRIC_SCHEDULE_H_

#include "schedulers/schedule.h"
#include "trainer/state.h"

namespace trainyard {

class MetricSchedule : public Schedule, public Stateful {
 public:
  // Call it after each evaluation. REQUIRES: the same value on all ranks, or
  // their schedules differ afterwards.
  virtual void Observe(double metric) = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_METRIC_SCHEDULE_H_
