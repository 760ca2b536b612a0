// LearningRateMonitor records the learning rate of each epoch's last update:
// "lr", or "lr_0", "lr_1", … where the optimizer has several groups.
//
//   trainer.Add(LearningRateMonitor(optimizer));
//   trainer.Add(LearningRateMonitor(optimizer, {.fields = {"lr", "beta1"}}));
//
// Thread-compatible.
#ifndef TRAINYARD_CALLBACKS_RECORDING_LEARNING_RATE_MONITOR_H_
#define TRAINYARD_CALLBACKS_RECORDING_LEARNING_RATE_MONITOR_H_

#include <string>
#include <vector>

#include "callbacks/callback.h"
#include "trainer/control.h"
#include "trainer/events.h"

namespace trainyard {

class Optimizer;

struct LearningRateMonitorOptions {
  // Fields of the optimizer's groups. REQUIRES: the optimizer has them.
  std::vector<std::string> fields = {"lr"};
};

class LearningRateMonitor final : public Callback {
 public:
  // Borrows the optimizer. Throws, listing the fields there are, if a group
  // lacks one.
  explicit LearningRateMonitor(Optimizer& optimizer,
                               LearningRateMonitorOptions options = {});

  void OnEpochStart(const EpochStart& e, Control&) override;
  void OnGradientsReady(const GradientsReady& e, Control&) override;
  void OnEpochEnd(const EpochEnd& e, Control&) override;

 private:
  struct Field {
    std::string name;
    // The optimizer's value.
    const double* source;
    double at_last_update;
  };
  std::vector<Field> fields_;
  bool updated_ = false;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_RECORDING_LEARNING_RATE_MONITOR_H_
