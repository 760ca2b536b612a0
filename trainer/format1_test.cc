// A run resumes from a checkpoint that the first release wrote, and ends to the
// bit as one that was never stopped.
//
// testdata/format1_run holds that checkpoint. It was saved in the middle of an
// accumulation window, so it has gradients. To write one with the current
// format, run this test with TRAINYARD_WRITE_GOLDEN=<folder>.
//
// All numbers are binary fractions of few digits in double precision, so that
// every machine computes the same bits.
#include <ATen/Context.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/stack.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "backends/make_backend.h"
#include "schedulers/linear.h"
#include "schedulers/plateau.h"
#include "trainer/checkpoint/testing/memory_folder.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/optim/sgd.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::SizeIs;

DatasetPtr Points(int64_t size) {
  const at::Tensor i = at::arange(size, at::kDouble);
  const at::Tensor x =
      at::stack({i.remainder(3).sub(1), i.remainder(2), at::ones_like(i)}, 1);
  return MakeTensorDataset(Example{x, x.sum(1).mul(2)});
}

TestCustom Weights(const std::string& name) {
  return TestCustom(
      TestModuleParts{.parameters = {{name, at::full({3}, 0.5, at::kDouble)}}});
}

class FractionTask final : public TaskOf<Example> {
 public:
  FractionTask() {
    AddModel("body", body_.ptr());
    AddModel("head", head_.ptr());
    AddOptimizer("body", body);
    AddOptimizer("head", head);
  }
  StepOutput TrainStep(const Example& batch, StepContext&) override {
    const at::Tensor error = Error(at::dropout(batch.input, 0.5, true), batch);
    return {.loss = error.square().mean(), .metrics = {{"bias", error.mean()}}};
  }
  StepOutput EvalStep(const Example& batch, StepContext&) override {
    return {.loss = Error(batch.input, batch).square().mean()};
  }

 private:
  at::Tensor Error(const at::Tensor& input, const Example& batch) {
    return input.mul(body_["w"])
        .sum(1)
        .add(batch.input.mul(head_["v"]).sum(1))
        .sub(batch.target);
  }

  TestCustom body_ = Weights("w"), head_ = Weights("v");

 public:
  SGD body{*body_, {.lr = 0.0625, .momentum = 0.5}};
  SGD head{*head_, {.lr = 0.03125, .momentum = 0.5}};
};

// Remembers its steps and reports; stops the run after `stop_at` steps.
class StepRecord final : public Callback, public Stateful {
 public:
  explicit StepRecord(int64_t stop_at) : stop_at_(stop_at) {}
  void OnStepEnd(const StepEnd&, Control& control) override {
    if (++steps == stop_at_) control.RequestStop("stop_at");
  }
  void OnMetricsReport(const MetricsReport& e, Control&) override {
    reports.push_back(e.metrics.at("train_loss"));
  }
  void OnCheckpointLoaded(const CheckpointLoaded&, Control&) override {
    loaded = true;
  }
  State SaveState() const override {
    State state;
    state.Set("steps", steps);
    state.Set("reports", reports);
    return state;
  }
  void LoadState(const State& state) override {
    state.CheckVersion(1);
    steps = state.Get<int64_t>("steps");
    reports = state.Get<std::vector<double>>("reports");
  }

  int64_t steps = 0;
  std::vector<double> reports;
  bool loaded = false;

 private:
  int64_t stop_at_;
};

struct Outcome {
  std::vector<double> weights, losses, bias, eval_losses, reports;
  int64_t steps = 0;
  bool loaded = false;
};

// 10 samples in batches of 2 and windows of 2 batches: 5 batches and 3 updates
// per epoch.
Outcome Train(const std::string& folder, int64_t stop_at = -1) {
  at::manual_seed(stop_at > 0 || folder.empty() ? 3 : 4);
  auto task = std::make_unique<FractionTask>();
  const auto backend = MakeBackend("sp");
  Trainer trainer(std::move(task), *backend);
  StepRecord record(stop_at);
  trainer.Add(record);
  trainer.Train(
      {.data = Points(10),
       .eval_data = Points(4),
       .length = Epochs(2),
       .per_device_batch_size = 2,
       .grad_accum_steps = 2,
       .schedule = Linear({.end_ratio = 0.5, .length = Updates(4)}),
       .schedules = {{.schedule = OnPlateau({.factor = 0.5, .patience = 0}),
                      .optimizer = "head"}},
       .evaluate = Every(Batches(3)),
       .report = Every(Batches(4)),
       .checkpoint = {.directory = folder, .save = Every(Batches(50))},
       .resume = folder.empty() ? Resume::kNever : Resume::kIfPresent,
       .seed = 5});
  Outcome outcome{.losses = trainer.history().Values("train_loss"),
                  .bias = trainer.history().Values("train_bias"),
                  .eval_losses = trainer.history().Values("eval_loss"),
                  .reports = record.reports,
                  .steps = record.steps,
                  .loaded = record.loaded};
  for (const NamedTensor& item : trainer.task().NamedTensors()) {
    const double* data = item.tensor.const_data_ptr<double>();
    outcome.weights.insert(outcome.weights.end(), data,
                           data + item.tensor.numel());
  }
  return outcome;
}

TEST(FormatOneTest, ARunResumesFromItAndEndsToTheBit) {
  if (const char* folder = std::getenv("TRAINYARD_WRITE_GOLDEN")) {
    Train(folder, /*stop_at=*/6);
    return;
  }
  const std::string folder = MemoryFolder() + "/format1_run";
  std::filesystem::copy("trainer/testdata/format1_run", folder,
                        std::filesystem::copy_options::recursive);
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder)) {
    std::filesystem::permissions(entry, std::filesystem::perms::owner_write,
                                 std::filesystem::perm_options::add);
  }
  const Outcome straight = Train("");
  const Outcome resumed = Train(folder);
  EXPECT_TRUE(resumed.loaded);
  EXPECT_EQ(resumed.steps, 10);
  EXPECT_EQ(resumed.weights, straight.weights);
  EXPECT_EQ(resumed.losses, straight.losses);
  EXPECT_THAT(resumed.losses, SizeIs(2));
  EXPECT_EQ(resumed.bias, straight.bias);
  EXPECT_EQ(resumed.eval_losses, straight.eval_losses);
  EXPECT_EQ(resumed.reports, straight.reports);
  EXPECT_THAT(resumed.reports, SizeIs(3));
}

}  // namespace
}  // namespace trainyard
