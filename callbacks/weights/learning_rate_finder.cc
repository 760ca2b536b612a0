#include "callbacks/weights/learning_rate_finder.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros_like.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "backends/whole_parameters.h"
#include "trainer/checkpoint/parts/rng_state.h"
#include "trainer/task.h"

namespace trainyard {
namespace {

std::vector<NamedTensor> CopyOf(const std::vector<NamedTensor>& tensors) {
  std::vector<NamedTensor> copies;
  for (const NamedTensor& item : tensors) {
    copies.push_back({item.name, item.tensor.detach().clone()});
  }
  return copies;
}

}  // namespace

LearningRateFinder::LearningRateFinder(Optimizer& optimizer,
                                       std::vector<NamedTensor> weights,
                                       const LrCurveOptions& options)
    : optimizer_(optimizer), weights_(std::move(weights)), curve_(options) {
  if (weights_.empty()) {
    throw std::invalid_argument(
        "LearningRateFinder: there are no weights to put back");
  }
}

void LearningRateFinder::OnRunStart(const RunStart& e, Control&) {
  if (done_) return;
  backend_ = &e.backend;
  before_.emplace();
  {
    const WholeParameters whole(*backend_);
    before_->weights = CopyOf(weights_);
  }
  before_->optimizer = CopyOf(optimizer_.NamedTensors());
  for (size_t group = 0; group < optimizer_.num_groups(); ++group) {
    before_->rates.push_back(optimizer_.Field(group, "lr"));
  }
  before_->random = SaveRngState();
  before_->backend = backend_->SaveState();
}

void LearningRateFinder::OnStepStart(const StepStart&, Control&) {
  if (!before_ || curve_.done()) return;
  const double lr = curve_.next_lr();
  const double first = before_->rates.front();
  for (size_t group = 0; group < optimizer_.num_groups(); ++group) {
    const double ratio = first > 0 ? before_->rates[group] / first : 1;
    optimizer_.Field(group, "lr") = lr * ratio;
  }
}

void LearningRateFinder::OnLossEnd(const LossEnd& e, Control&) {
  if (!before_ || !e.output.loss.defined()) return;
  const double weight = e.output.weight.value();
  const at::Tensor loss = e.output.loss.detach().to(at::kDouble);
  // A mean over nothing may be NaN; a sum over nothing is 0.
  const at::Tensor sum = weight == 0 ? at::zeros_like(loss) : loss.mul(weight);
  loss_ = loss_.defined() ? loss_.add(sum) : sum;
  weight_ += weight;
}

void LearningRateFinder::OnGradientsReady(const GradientsReady&, Control&) {
  window_ended_ = true;
}

// A window whose update is dropped has no OnGradientsReady.
void LearningRateFinder::OnUpdateEnd(const UpdateEnd& e, Control&) {
  if (!e.late) window_ended_ = true;
}

double LearningRateFinder::MeanLoss() const {
  at::Tensor sums = at::stack({loss_, at::full_like(loss_, weight_)});
  backend_->collectives().AllReduce(sums, ReduceOp::kSum);
  return sums.select(0, 0).div(sums.select(0, 1)).item<double>();
}

void LearningRateFinder::OnStepEnd(const StepEnd&, Control& control) {
  if (!before_ || !std::exchange(window_ended_, false)) return;
  if (!loss_.defined() || curve_.done()) return;
  curve_.Add(MeanLoss());
  loss_.reset();
  weight_ = 0;
  if (!curve_.done()) return;
  control.RequestStop(curve_.diverged()
                          ? "the loss diverged: learning rates were tried"
                          : "all learning rates were tried");
}

void LearningRateFinder::OnCheckpointSaved(const CheckpointSaved& e, Control&) {
  if (!before_) return;
  throw std::invalid_argument(
      "LearningRateFinder: its trial was saved in " + e.path +
      "; leave the checkpoint out of that run's options");
}

void LearningRateFinder::OnRunEnd(const RunEnd& e, Control&) {
  if (!before_) return;
  const Before before = *std::exchange(before_, std::nullopt);
  done_ = true;
  loss_.reset();
  const at::NoGradGuard no_gradients;
  // After an error other ranks may be gone, which gathers would wait for.
  if (e.ending != RunEnding::kError || !backend_->shards_parameters()) {
    const WholeParameters whole(*backend_);
    for (size_t i = 0; i < weights_.size(); ++i) {
      at::Tensor weight = weights_[i].tensor.detach();
      weight.copy_(before.weights[i].tensor);
    }
    backend_->ParametersLoaded();
  }
  optimizer_.LoadTensors(before.optimizer);
  for (size_t group = 0; group < optimizer_.num_groups(); ++group) {
    optimizer_.Field(group, "lr") = before.rates[group];
  }
  optimizer_.ZeroGrad();
  LoadRngState(before.random);
  backend_->LoadState(before.backend);
}

}  // namespace trainyard
