// Batches that are masked entirely on one rank, or on all: the run is still
// that of one process.
#include <ATen/Context.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/rand.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "backends/make_backend.h"
#include "backends/single_process.h"
#include "tools/launch/testing/test_rank.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/optim/adamw.h"
#include "trainer/task.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

// Records with a negative target do not count. Takes the records in order.
class MaskedTask final : public TaskOf<Example> {
 public:
  MaskedTask() {
    AddModel("line", line_.ptr());
    AddOptimizer("line", optimizer_);
  }
  StepOutput TrainStep(const Example& batch, StepContext&) override {
    const at::Tensor counted = batch.target.ge(0).to(at::kFloat);
    const at::Tensor error =
        line_->forward(batch.input).sub(batch.target).pow(2);
    return {.loss = error.mul(counted).sum().div(counted.sum()),
            .weight = counted.sum().item<double>()};
  }
  StepOutput EvalStep(const Example& batch, StepContext& step) override {
    return TrainStep(batch, step);
  }
  std::unique_ptr<BatchSource> TrainLoader(
      const LoaderRequest& request) override {
    return EvalLoader(request);
  }
  at::Tensor weight() const { return line_["weight"].detach(); }

 private:
  TestLinear line_{(at::manual_seed(1), 3), 1};
  AdamW optimizer_{*line_, {.lr = 0.1}};
};

struct Outcome {
  int64_t updates = 0;
  at::Tensor weight;
  double train_loss = 0, eval_loss = 0;
};

// Two records to a batch, on one process or one on each of two. `masked` says
// which records are.
Outcome Train(Backend& backend, const at::Tensor& masked, int64_t window) {
  at::manual_seed(2);
  const at::Tensor x = at::rand({masked.size(0), 3});
  const at::Tensor y = x.sum(1, /*keepdim=*/true);
  const DatasetPtr data =
      MakeTensorDataset(Example{x, y.masked_fill(masked.unsqueeze(1), -1)});
  auto task = std::make_unique<MaskedTask>();
  const MaskedTask& kept = *task;
  Trainer trainer(std::move(task), backend, {.default_callbacks = false});
  const RunResult result = trainer.Train(
      {.data = data,
       .eval_data = data,
       .length = Epochs(3),
       .per_device_batch_size = 2 / backend.num_processes(),
       .grad_accum_steps = window,
       .eval_per_device_batch_size = 2 / backend.num_processes()});
  return {result.clock.updates(), kept.weight().clone(),
          trainer.history().Latest("train_loss"),
          trainer.history().Latest("eval_loss")};
}

TEST(MaskedBatchDdpTest, IsTheRunOfOneProcess) {
  const at::Device device(TestDevice());
  const auto one = MakeSingleProcessBackend(device);
  const auto all = MakeBackend("ddp", {.device = device});
  const at::Tensor record = at::arange(12);
  // Both records of the first batch; then one of some batches.
  const at::Tensor masked = record.lt(2).logical_or(record.remainder(3).eq(0));
  for (const int64_t window : {1, 2}) {
    const Outcome expected = Train(*one, masked, window);
    const Outcome actual = Train(*all, masked, window);
    EXPECT_EQ(expected.updates, window == 1 ? 15 : 9);
    EXPECT_EQ(actual.updates, expected.updates) << window;
    EXPECT_TRUE(at::allclose(actual.weight, expected.weight, 1e-5, 1e-6))
        << window;
    EXPECT_NEAR(actual.train_loss, expected.train_loss, 1e-5) << window;
    EXPECT_NEAR(actual.eval_loss, expected.eval_loss, 1e-5) << window;
  }
}

}  // namespace
}  // namespace trainyard
