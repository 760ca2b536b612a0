#include "callbacks/recording/gradient_norm_monitor.h"

#include <ATen/ops/maximum.h>

#include <vector>

#include "backends/backend.h"
#include "tracking/run_history.h"
#include "trainer/optim/clip.h"
#include "trainer/optim/optimizer.h"

namespace trainyard {

void GradientNormMonitor::OnRunStart(const RunStart& e, Control&) {
  backend_ = &e.backend;
}

void GradientNormMonitor::OnEpochStart(const EpochStart&, Control&) {
  sum_.reset();
  max_.reset();
  count_ = 0;
}

void GradientNormMonitor::OnGradientsReady(const GradientsReady& e, Control&) {
  const std::vector<at::Tensor>& gradients = optimizer_.Gradients();
  if (gradients.empty()) return;
  at::Tensor norm = GradientNorm(gradients).to(at::kDouble).div(e.divisor);
  if (backend_ != nullptr && backend_->shards_gradients()) {
    norm = norm.square();
    backend_->collectives().AllReduce(norm, ReduceOp::kSum);
    norm = norm.sqrt();
  }
  sum_ = count_ == 0 ? norm : sum_.add(norm);
  // Unlike a comparison, it lets a NaN through.
  max_ = count_ == 0 ? norm : at::maximum(max_, norm);
  ++count_;
}

void GradientNormMonitor::OnTrainEpochEnd(const TrainEpochEnd& e, Control&) {
  if (count_ == 0) return;
  e.history.Update("grad_norm_mean",
                   sum_.item<double>() / static_cast<double>(count_));
  e.history.Update("grad_norm_max", max_.item<double>());
}

}  // namespace trainyard
