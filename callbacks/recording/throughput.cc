#include "callbacks/recording/throughput.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "tracking/run_history.h"

namespace trainyard {
namespace {

// The smallest value that a share `p` of all do not exceed. REQUIRES: sorted,
// not empty, 0 < p <= 1.
double Percentile(const std::vector<float>& sorted, double p) {
  const auto rank = std::ceil(p * static_cast<double>(sorted.size()));
  return static_cast<double>(sorted[static_cast<size_t>(rank) - 1]);
}

}  // namespace

Throughput::Throughput(ThroughputOptions options)
    : options_(std::move(options)) {
  if (options_.clock == nullptr) {
    throw std::invalid_argument("Throughput: clock is empty");
  }
}

void Throughput::OnEpochStart(const EpochStart& e, Control&) {
  start_samples_ = e.clock.samples();
  waited_ = 0;
  steps_.clear();
  steps_.reserve(static_cast<size_t>(e.num_batches.value_or(0)));
  eval_seconds_ = 0;
  epoch_start_ = options_.clock();
  wait_start_ = epoch_start_;
}

void Throughput::OnStepStart(const StepStart&, Control&) {
  step_start_ = options_.clock();
  waited_ += step_start_ - wait_start_;
}

void Throughput::OnStepEnd(const StepEnd&, Control&) {
  wait_start_ = options_.clock();
  steps_.push_back(static_cast<float>(wait_start_ - step_start_));
}

void Throughput::OnEvalStart(const EvalStart&, Control&) {
  eval_start_ = options_.clock();
}

// An evaluation within an epoch is no wait for data.
void Throughput::OnEvalEnd(const EvalEnd&, Control&) {
  wait_start_ = options_.clock();
  eval_seconds_ += wait_start_ - eval_start_;
}

void Throughput::OnTrainEpochEnd(const TrainEpochEnd& e, Control&) {
  if (steps_.empty()) return;
  // Up to now and not to the last step's end: the losses were read since, which
  // waited for the device.
  const double seconds = options_.clock() - epoch_start_ - eval_seconds_;
  const auto samples = static_cast<double>(e.clock.samples() - start_samples_);
  std::sort(steps_.begin(), steps_.end());
  e.history.Update("samples_per_second", seconds > 0 ? samples / seconds : 0);
  e.history.Update("data_wait", seconds > 0 ? waited_ / seconds : 0);
  e.history.Update("step_ms_p50", 1e3 * Percentile(steps_, 0.5));
  e.history.Update("step_ms_p95", 1e3 * Percentile(steps_, 0.95));
  e.history.Update("step_ms_max", 1e3 * Percentile(steps_, 1));
}

}  // namespace trainyard
