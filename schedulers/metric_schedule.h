// A schedule that is shown a metric, and so changes.
//
//   std::unique_ptr<MetricSchedule> schedule =
//       std::make_unique<Plateau>(PlateauOptions{.patience = 2});
//   schedule->Observe(eval_loss);
//
// Thread-compatible: one thread observes and asks.
#ifndef TRAINYARD_SCHEDULERS_METRIC_SCHEDULE_H_
#define TRAINYARD_SCHEDULERS_METRIC_SCHEDULE_H_

#include "schedulers/schedule.h"
#include "trainer/state.h"

namespace trainyard {

class MetricSchedule : public Schedule, public Stateful {
 public:
  // To be called after each evaluation. On several ranks with the same value,
  // or their schedules part.
  virtual void Observe(double metric) = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_METRIC_SCHEDULE_H_
