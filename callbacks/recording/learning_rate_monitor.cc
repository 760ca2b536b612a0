#include "callbacks/recording/learning_rate_monitor.h"

#include <cstddef>

#include "tracking/run_history.h"
#include "trainer/optim/optimizer.h"

namespace trainyard {

LearningRateMonitor::LearningRateMonitor(Optimizer& optimizer,
                                         LearningRateMonitorOptions options) {
  for (const std::string& field : options.fields) {
    for (size_t group = 0; group < optimizer.num_groups(); ++group) {
      const double& source = optimizer.Field(group, field);
      fields_.push_back({optimizer.num_groups() == 1
                             ? field
                             : field + "_" + std::to_string(group),
                         &source, source});
    }
  }
}

void LearningRateMonitor::OnEpochStart(const EpochStart&, Control&) {
  updated_ = false;
}

// Before the update: after it, a schedule has set the next one's.
void LearningRateMonitor::OnGradientsReady(const GradientsReady&, Control&) {
  updated_ = true;
  for (Field& field : fields_) field.at_last_update = *field.source;
}

void LearningRateMonitor::OnEpochEnd(const EpochEnd& e, Control&) {
  if (!updated_) return;
  for (const Field& field : fields_) {
    e.history.Update(field.name, field.at_last_update);
  }
}

}  // namespace trainyard
