// One training step (forward, backward, AdamW) of 24 layers of 512 and a head,
// on one thread, in the ways people fine-tune: all of it; all but the head
// frozen; LoRA of rank 8 on every layer and the head. Counters:
//
//   parameters   that are trained
//   tensors_mb   most memory of tensors in a step: weights, gradients,
//                optimizer's state, activations
//   forward_ms   median of the forward pass alone; the time is that of a step
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <benchmark/benchmark.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "finetuning/freezer/model_freezer.h"
#include "finetuning/lora/lora.h"
#include "finetuning/testing/tensor_memory.h"
#include "trainer/optim/adamw.h"

namespace trainyard {
namespace {

constexpr int64_t kLayers = 24, kWidth = 512, kClasses = 10, kBatch = 64;

enum class Way { kFull, kHead, kLora };

torch::nn::Sequential Model() {
  torch::nn::Sequential model;
  for (int64_t layer = 0; layer < kLayers; ++layer) {
    model->push_back(torch::nn::Linear(kWidth, kWidth));
    model->push_back(torch::nn::ReLU());
  }
  model->push_back(torch::nn::Linear(kWidth, kClasses));
  return model;
}

template <class Function>
double Milliseconds(const Function& function) {
  const auto start = std::chrono::steady_clock::now();
  function();
  const std::chrono::duration<double, std::milli> taken =
      std::chrono::steady_clock::now() - start;
  return taken.count();
}

void FinetuneStep(benchmark::State& state, Way way) {
  at::set_num_threads(1);
  TensorMemory memory;
  torch::nn::Sequential model = Model();
  std::optional<Lora> lora;
  ModelFreezer freezer(*model);
  if (way == Way::kHead) freezer.FreezeGroups();
  if (way == Way::kLora) {
    lora.emplace(*model, LoraOptions{.targets = {"*"}, .rank = 8});
  }
  AdamW optimizer(*model);
  const at::Tensor input = at::randn({kBatch, kWidth});
  const at::Tensor target = at::randint(kClasses, {kBatch}, at::kLong);
  std::vector<double> forward;
  memory.ResetPeak();
  for (auto _ : state) {
    at::Tensor loss;
    forward.push_back(Milliseconds(
        [&] { loss = at::cross_entropy_loss(model->forward(input), target); }));
    loss.backward();
    optimizer.step();
    optimizer.ZeroGrad();
  }
  int64_t parameters = 0;
  for (const at::Tensor& item : model->parameters()) {
    if (item.requires_grad()) parameters += item.numel();
  }
  const auto middle = forward.begin() + forward.size() / 2;
  std::nth_element(forward.begin(), middle, forward.end());
  state.counters["parameters"] = static_cast<double>(parameters);
  state.counters["tensors_mb"] = static_cast<double>(memory.peak()) / (1 << 20);
  state.counters["forward_ms"] = *middle;
}

BENCHMARK_CAPTURE(FinetuneStep, full, Way::kFull)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(FinetuneStep, head, Way::kHead)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(FinetuneStep, lora, Way::kLora)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace trainyard
