// One training run whose size can be varied in several ways, to see how the
// cost of a step grows. growth.py runs it and makes a table.
//
//   growth --tensors=200 --metrics=10 --callbacks=20 --records=100000
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/zeros.h>
#include <absl/flags/flag.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/make_backend.h"
#include "callbacks/callback.h"
#include "schedulers/cosine.h"
#include "tools/cli/parse_flags.h"
#include "trainer/data/batch.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/main.h"
#include "trainer/optim/adamw.h"
#include "trainer/task.h"
#include "trainer/trainer.h"

ABSL_FLAG(int64_t, callbacks, 0, "Callbacks that count steps.");
ABSL_FLAG(int64_t, tensors, 10, "Parameter tensors of the network; even.");
ABSL_FLAG(int64_t, metrics, 0, "Metrics that each step returns.");
ABSL_FLAG(int64_t, records, 10000, "Records of the dataset.");
ABSL_FLAG(int64_t, steps, 60, "Steps; of them 20 are warm-up.");
ABSL_FLAG(std::string, backend, "sp", "See MakeBackend.");
ABSL_FLAG(bool, gradients_only, false,
          "Computes gradients in a loop of its own, without the trainer.");

// callgrind writes its counts when this is called: see growth.py.
extern "C" __attribute__((noinline)) void GrowthMark() { asm volatile(""); }

namespace trainyard {
namespace {

constexpr int64_t kWarmup = 20;
constexpr int64_t kBatch = 8, kWidth = 8;

using Clock = std::chrono::steady_clock;

torch::nn::Sequential MakeNetwork() {
  at::manual_seed(1);
  torch::nn::Sequential network;
  for (int64_t i = 0; i < absl::GetFlag(FLAGS_tensors) / 2; ++i) {
    network->push_back(torch::nn::Linear(kWidth, kWidth));
  }
  return network;
}

class GrowingTask final : public TaskOf<Example> {
 public:
  explicit GrowingTask(torch::nn::Sequential network)
      : network_(std::move(network)) {
    AddModel("network", network_.ptr());
    for (int64_t i = 0; i < absl::GetFlag(FLAGS_metrics); ++i) {
      names_.push_back(absl::StrCat("metric", i));
    }
  }

  StepOutput TrainStep(const Example& batch, StepContext&) override {
    StepOutput output{.loss = at::cross_entropy_loss(
                          network_->forward(batch.input), batch.target)};
    for (const std::string& name : names_) {
      output.metrics.emplace_back(name, value_);
    }
    return output;
  }
  StepOutput EvalStep(const Example& batch, StepContext& step) override {
    return TrainStep(batch, step);
  }

 private:
  torch::nn::Sequential network_;
  std::vector<std::string> names_;
  // The same every time: what it costs to compute a metric is the task's.
  const at::Tensor value_ = at::zeros({});
};

// Called after each step.
void MarkSteps(int64_t done) {
  if (done == kWarmup || done == absl::GetFlag(FLAGS_steps)) GrowthMark();
}

class CountSteps final : public Callback {
 public:
  void OnStepEnd(const StepEnd&, Control&) override { ++steps_; }

 private:
  int64_t steps_ = 0;
};

void Train(const DatasetPtr& data, int64_t steps) {
  const torch::nn::Sequential network = MakeNetwork();
  AdamW optimizer(*network, {.lr = 1e-3});
  const auto backend = MakeBackend(absl::GetFlag(FLAGS_backend));
  Trainer trainer(std::make_unique<GrowingTask>(network), optimizer, *backend);
  for (int64_t i = 0; i < absl::GetFlag(FLAGS_callbacks); ++i) {
    trainer.Add(CountSteps(), {.duplicates = Duplicates::kAllow});
  }
  const Clock::time_point begin = Clock::now();
  std::vector<double> ends;
  trainer.Add(On<UpdateEnd>([&](const UpdateEnd&, Control&) {
    ends.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    MarkSteps(static_cast<int64_t>(ends.size()));
  }));
  trainer.Train({.data = data,
                 .length = Updates(steps),
                 .per_device_batch_size = kBatch,
                 .clip = ClipNorm(1),
                 .schedule = Cosine()});
  std::vector<double> times;
  for (size_t i = 1; i < ends.size(); ++i) {
    times.push_back(ends[i] - ends[i - 1]);
  }
  std::ranges::sort(times);
  absl::PrintF("@@{\"first_step_s\": %.6f, \"step_us\": %.3f}\n", ends[0],
               1e6 * times[times.size() / 2]);
}

void ComputeGradients(const Dataset& data, int64_t steps) {
  torch::nn::Sequential network = MakeNetwork();
  const std::vector<at::Tensor> parameters = network->parameters();
  for (int64_t i = 0; i < steps; ++i) {
    const Example batch =
        data.Gather(at::arange(i * kBatch, (i + 1) * kBatch, at::kLong))
            .As<Example>();
    for (const at::Tensor& parameter : parameters) {
      parameter.mutable_grad().reset();
    }
    at::cross_entropy_loss(network->forward(batch.input), batch.target)
        .backward();
    MarkSteps(i + 1);
  }
}

int Run() {
  at::set_num_threads(1);
  const int64_t steps = absl::GetFlag(FLAGS_steps);
  const int64_t records = absl::GetFlag(FLAGS_records);
  // One record, seen as many: only the order of an epoch takes up memory.
  const DatasetPtr data =
      MakeTensorDataset(Example{at::zeros({1, kWidth}).expand({records, -1}),
                                at::zeros({1}, at::kLong).expand(records)});
  if (absl::GetFlag(FLAGS_gradients_only)) {
    ComputeGradients(*data, steps);
  } else {
    Train(data, steps);
  }
  return 0;
}

}  // namespace
}  // namespace trainyard

int main(int argc, char** argv) {
  trainyard::ParseFlags(argc, argv, "one training run of a chosen size");
  return trainyard::Main(trainyard::Run);
}
