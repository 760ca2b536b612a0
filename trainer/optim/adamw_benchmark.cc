// One update by AdamW, over a small network's parameters and over a
// ResNet-50's, on one thread. Ways to do it take turns within each iteration,
// so that a noisy machine disturbs all alike; counters are medians, in
// microseconds:
//
//   ours, libtorch     AdamW::step and torch::optim::AdamW::step
//   kernel             ATen's fused kernel alone, on lists made before
//   ours_clip          clipping by norm folded into AdamW's update
//   libtorch_clip      clip_grad_norm_ and step
//   speedup            libtorch / ours; speedup_clip: with clipping
//   clip_cost          ours_clip / kernel
//
// tools/bench/optimizers.py measures the same in Python.
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <benchmark/benchmark.h>
#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/adamw.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "trainer/optim/adamw.h"
#include "trainer/optim/clip.h"
#include "trainer/optim/testing/benchmark_shapes.h"

namespace trainyard {
namespace {

constexpr double kLimit = 1;  // below every gradient's norm here

Shapes SmallNetwork() {
  return {{16, 1, 3, 3}, {16}, {32, 16, 3, 3}, {32}, {10, 128}, {10}};
}

// Parameters of one way to do it, and how long its updates took.
class Way {
 public:
  explicit Way(const std::vector<at::Tensor>& gradients)
      : gradients_(gradients) {
    for (const at::Tensor& gradient : gradients) {
      params_.push_back(at::ones(gradient.sizes()).requires_grad_());
      params_.back().mutable_grad() = at::zeros_like(gradient);
    }
  }
  const std::vector<at::Tensor>& params() const { return params_; }

  template <typename Update>
  void Time(const Update& update) {
    // Clipping wrote to them.
    for (size_t i = 0; i < params_.size(); ++i) {
      params_[i].mutable_grad().copy_(gradients_[i]);
    }
    const auto start = std::chrono::steady_clock::now();
    update();
    const std::chrono::duration<double> taken =
        std::chrono::steady_clock::now() - start;
    seconds_.push_back(taken.count());
  }
  double last() const { return seconds_.back(); }
  double Median() {
    const auto middle = seconds_.begin() + seconds_.size() / 2;
    std::nth_element(seconds_.begin(), middle, seconds_.end());
    return *middle;
  }

 private:
  const std::vector<at::Tensor>& gradients_;
  std::vector<at::Tensor> params_;
  std::vector<double> seconds_;
};

// The kernel's arguments, made once.
struct Lists {
  explicit Lists(const std::vector<at::Tensor>& all) : params(all) {
    for (const at::Tensor& param : params) {
      grads.push_back(param.grad());
      means.push_back(at::zeros_like(param));
      squares.push_back(at::zeros_like(param));
      steps.push_back(at::zeros({}));
      *steps.back().data_ptr<float>() = 1;
    }
  }
  void Update() const {
    const at::NoGradGuard no_gradients;
    at::_fused_adamw_(params, grads, means, squares, {}, steps, 1e-3, 0.9,
                      0.999, 1e-2, 1e-8, false, false);
  }
  std::vector<at::Tensor> params, grads, means, squares, steps;
};

void AdamWUpdate(benchmark::State& state, const Shapes& shapes) {
  at::set_num_threads(1);
  std::vector<at::Tensor> gradients;
  for (const auto& sizes : shapes) gradients.push_back(at::randn(sizes));

  Way ours(gradients), libtorch(gradients), kernel(gradients);
  Way ours_clip(gradients), libtorch_clip(gradients);
  AdamW our_optimizer(ours.params());
  AdamW our_clipped(ours_clip.params());
  torch::optim::AdamW their_optimizer(libtorch.params());
  torch::optim::AdamW their_clipped(libtorch_clip.params());
  const Lists lists(kernel.params());

  for (auto _ : state) {
    ours.Time([&] { our_optimizer.step(); });
    libtorch.Time([&] { their_optimizer.step(); });
    kernel.Time([&] { lists.Update(); });
    ours_clip.Time([&] {
      const at::Tensor divisor =
          ClippingDivisor(our_clipped.Gradients(), 1, kLimit);
      if (divisor.defined()) {
        our_clipped.StepDivided(divisor);
      } else {
        our_clipped.step();
      }
    });
    libtorch_clip.Time([&] {
      torch::nn::utils::clip_grad_norm_(libtorch_clip.params(), kLimit);
      their_clipped.step();
    });
    state.SetIterationTime(ours.last());
  }
  const auto report = [&state](const std::string& name, double value) {
    state.counters[name] = value;
  };
  report("ours", 1e6 * ours.Median());
  report("libtorch", 1e6 * libtorch.Median());
  report("kernel", 1e6 * kernel.Median());
  report("ours_clip", 1e6 * ours_clip.Median());
  report("libtorch_clip", 1e6 * libtorch_clip.Median());
  report("speedup", libtorch.Median() / ours.Median());
  report("speedup_clip", libtorch_clip.Median() / ours_clip.Median());
  report("clip_cost", ours_clip.Median() / kernel.Median());
}

BENCHMARK_CAPTURE(AdamWUpdate, small_network, SmallNetwork())->UseManualTime();
BENCHMARK_CAPTURE(AdamWUpdate, resnet50, ResNet50())
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace trainyard
