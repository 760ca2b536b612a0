// GradientNormMonitor records the 2-norm of the whole gradient before clipping:
// its mean and maximum over the updates of an epoch, as "grad_norm_mean" and
// "grad_norm_max".
//
//   trainer.Add(GradientNormMonitor(optimizer));
//
// The values stay on the device until the end of the epoch. Under a backend
// that shards gradients the norm is that over all ranks: all of them need the
// callback.
//
// Thread-compatible.
#ifndef TRAINYARD_CALLBACKS_RECORDING_GRADIENT_NORM_MONITOR_H_
#define TRAINYARD_CALLBACKS_RECORDING_GRADIENT_NORM_MONITOR_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "callbacks/callback.h"
#include "trainer/control.h"
#include "trainer/events.h"

namespace trainyard {

class Backend;
class Optimizer;

class GradientNormMonitor final : public Callback {
 public:
  // Borrows the optimizer.
  explicit GradientNormMonitor(Optimizer& optimizer) : optimizer_(optimizer) {}

  void OnRunStart(const RunStart& e, Control&) override;
  void OnEpochStart(const EpochStart& e, Control&) override;
  void OnGradientsReady(const GradientsReady& e, Control&) override;
  void OnTrainEpochEnd(const TrainEpochEnd& e, Control&) override;

 private:
  Optimizer& optimizer_;
  // Of the run; null before the first.
  Backend* backend_ = nullptr;
  // Of the current epoch.
  at::Tensor sum_;
  at::Tensor max_;
  int64_t count_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_RECORDING_GRADIENT_NORM_MONITOR_H_
