// The pieces of README.md, in one program; tools/lint/examples.py compares
// them. Needs torch/nn, as the models of users do.
#include <ATen/Context.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "backends/make_backend.h"
#include "callbacks/callback.h"
#include "callbacks/recording/profiler.h"
#include "callbacks/stopping/early_stopping.h"
#include "callbacks/stopping/max_duration.h"
#include "callbacks/stopping/terminate_on_nan.h"
#include "finetuning/warm_start/warm_start.h"
#include "trainer/data/batch.h"
#include "trainer/data/dataset.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/losses.h"
#include "trainer/optim/adamw.h"
#include "trainer/or_throw.h"
#include "trainer/supervised.h"
#include "trainer/task.h"
#include "trainer/train_unit.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

Example RandomPoints(int64_t count) {
  const at::Tensor points = at::rand({count, 2}).mul_(2).sub_(1);
  return {points, points.square().sum(1).lt(0.6).to(at::kLong)};
}

TEST(GuideTest, TheFirstModel) {
  at::manual_seed(1);
  const Example train = RandomPoints(4096), test = RandomPoints(1024);
  torch::nn::Sequential model(torch::nn::Linear(2, 32), torch::nn::ReLU(),
                              torch::nn::Linear(32, 2));
  AdamW optimizer(*model, {.lr = 1e-2});
  const auto backend = MakeBackend("sp");
  Trainer trainer(Supervised(model, CrossEntropy(), {{"accuracy", Accuracy()}}),
                  optimizer, *backend);
  const RunResult result = trainer.Train({.data = MakeTensorDataset(train),
                                          .eval_data = MakeTensorDataset(test),
                                          .length = Epochs(5),
                                          .per_device_batch_size = 64});
  EXPECT_EQ(result.ending, RunEnding::kFinished);
  const double accuracy = trainer.history().Latest("eval_accuracy");
  EXPECT_GT(accuracy, 0.9);
}

class Ring final : public Dataset {
 public:
  int64_t size() const override { return 4096; }
  AnyBatch Gather(const at::Tensor& indices) const override {
    const at::Tensor angle = indices.to(at::kFloat) * 0.1;
    const at::Tensor radius = indices.remainder(2).to(at::kFloat) + 1;
    const at::Tensor points =
        at::stack({angle.cos() * radius, angle.sin() * radius}, 1);
    return AnyBatch(Example{points, indices.remainder(2)});
  }
};

class RingTask final : public TaskOf<Example> {
 public:
  explicit RingTask(torch::nn::Sequential net) : net_(std::move(net)) {
    AddModel("net", net_.ptr());
  }
  StepOutput TrainStep(const Example& batch, StepContext& step) override {
    const at::Tensor scores = net_->forward(batch.input);
    step.ForwardDone(scores);
    return {.loss = at::cross_entropy_loss(scores, batch.target)};
  }
  StepOutput EvalStep(const Example& batch, StepContext& step) override {
    return TrainStep(batch, step);
  }

 private:
  torch::nn::Sequential net_;
};

torch::nn::Sequential MakeNet() {
  at::manual_seed(1);
  return torch::nn::Sequential(torch::nn::Linear(2, 16), torch::nn::ReLU(),
                               torch::nn::Linear(16, 2));
}

// Trains on Ring for three epochs, or is interrupted before; returns weights.
at::Tensor TrainedRing(const std::string& run_dir, bool interrupt) {
  const auto data = std::make_shared<Ring>();
  const auto backend = MakeBackend("sp");
  torch::nn::Sequential net = MakeNet();
  AdamW optimizer(*net, {.lr = 1e-2});
  Trainer trainer(std::make_unique<RingTask>(net), optimizer, *backend);
  if (interrupt) trainer.Add(MaxDuration(Updates(70)));
  trainer.Train({.data = data,
                 .length = Epochs(3),
                 .checkpoint = {.directory = run_dir,
                                .save = Every(Updates(50)),
                                .keep = {.last = 2}},
                 .resume = Resume::kIfPresent});
  return net->parameters()[0].detach().clone();
}

std::string Fresh(const std::string& name) {
  const std::string folder = ::testing::TempDir() + "/" + name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

TEST(GuideTest, OwnDataOwnTaskAndCheckpoints) {
  const at::Tensor whole = TrainedRing(Fresh("whole"), /*interrupt=*/false);
  const std::string run_dir = Fresh("parts");
  EXPECT_FALSE(at::equal(TrainedRing(run_dir, /*interrupt=*/true), whole));
  EXPECT_TRUE(at::equal(TrainedRing(run_dir, /*interrupt=*/false), whole));
}

TEST(GuideTest, BetweenTheStepsAndWhenSomethingIsWrong) {
  const std::string run_dir = Fresh("watched");
  const auto data = std::make_shared<Ring>();
  const auto backend = MakeBackend("sp-amp");
  torch::nn::Sequential net = MakeNet();
  AdamW optimizer(*net, {.lr = 1e-2});
  Trainer trainer(std::make_unique<RingTask>(net), optimizer, *backend);
  int evaluations = 0;
  trainer.Add(On<EvalEnd>([&](const EvalEnd&, Control&) { ++evaluations; }));
  trainer.Add(EarlyStopping({.metric = "eval_loss", .patience = 3}));
  trainer.Add(TerminateOnNaN({.gradients = &optimizer}));
  trainer.Add(Profiler({.path = run_dir + "/steps.json", .first_batch = 5}));
  trainer.Train({.data = data, .eval_data = data, .length = Epochs(2)});
  EXPECT_EQ(evaluations, 2);
  EXPECT_TRUE(std::filesystem::exists(run_dir + "/steps.json"));
}

struct Net : torch::nn::Module {
  Net() {
    register_parameter("body", at::zeros({4, 2}));
    register_parameter("head", at::zeros({3, 4}));
    register_buffer("mean", at::zeros({4}));
  }
};

TEST(GuideTest, WeightsFromPython) {
  const std::string file =
      std::filesystem::absolute("trainer/checkpoint/pt/testdata/warm_start.pt");
  std::filesystem::current_path(Fresh("python"));
  std::filesystem::copy_file(file, "weights.pt");
  const auto model = std::make_shared<torch::nn::Module>();
  model->register_module("net", std::make_shared<Net>());
  const WarmStartReport report =
      OrThrow(WarmStart("weights.pt", *model, {.key = "state_dict"}));
  EXPECT_EQ(report.loaded.size(), 3);
}

}  // namespace
}  // namespace trainyard
