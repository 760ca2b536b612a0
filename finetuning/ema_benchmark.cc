// One update of an Ema over the parameters and buffers of a ResNet-50, beside
// one update of its parameters by AdamW's fused kernel, on one thread. Both
// take turns within each iteration, so that a noisy machine disturbs both
// alike; counters are medians, in milliseconds of this thread's processor time:
//
//   ema, adamw    Ema::Update and AdamW::step
//   ratio         ema / adamw
#include <ATen/Parallel.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <benchmark/benchmark.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include "finetuning/ema.h"
#include "trainer/optim/adamw.h"
#include "trainer/optim/testing/benchmark_shapes.h"

namespace trainyard {
namespace {

class ResNet50Tensors final : public torch::nn::Module {
 public:
  ResNet50Tensors() {
    const Shapes shapes = ResNet50();
    for (size_t i = 0; i < shapes.size(); ++i) {
      const std::string number = std::to_string(i);
      register_parameter("parameter" + number, at::randn(shapes[i]));
      // Beside the weight of each norm.
      if (shapes[i].size() > 1 || i + 1 == shapes.size() || i % 3 == 2)
        continue;
      register_buffer("mean" + number, at::randn(shapes[i]));
      register_buffer("variance" + number, at::randn(shapes[i]));
      register_buffer("batches" + number, at::zeros({}, at::kLong));
    }
    for (const at::Tensor& parameter : parameters()) {
      parameter.mutable_grad() = at::randn(parameter.sizes());
    }
  }
};

double Now() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         1e-9 * static_cast<double>(time.tv_nsec);
}

template <class Function>
double ThreadSeconds(const Function& function) {
  const double start = Now();
  function();
  return Now() - start;
}

double Median(std::vector<double>& values) {
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void EmaUpdate(benchmark::State& state) {
  at::set_num_threads(1);
  const ResNet50Tensors model;
  Ema ema(model, {.decay = 0.999});
  AdamW optimizer(model);
  std::vector<double> of_ema, of_adamw;
  for (auto _ : state) {
    of_adamw.push_back(ThreadSeconds([&] { optimizer.step(); }));
    of_ema.push_back(ThreadSeconds([&] { ema.Update(); }));
    state.SetIterationTime(of_ema.back());
  }
  state.counters["ema"] = 1e3 * Median(of_ema);
  state.counters["adamw"] = 1e3 * Median(of_adamw);
  state.counters["ratio"] = Median(of_ema) / Median(of_adamw);
}

BENCHMARK(EmaUpdate)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace trainyard
