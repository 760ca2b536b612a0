// The C++ of the pages about longer runs: schedules.md, mixed_precision.md,
// many_processes.md, fine_tuning.md, report.md and when_something_is_wrong.md.
// tools/lint/examples.py compares them. Needs torch/nn, as the models of users
// do.
#include <ATen/Context.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/rand.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "backends/make_backend.h"
#include "backends/processes/run_ranks.h"
#include "callbacks/callback.h"
#include "callbacks/recording/learning_rate_monitor.h"
#include "callbacks/recording/throughput.h"
#include "callbacks/recording/track.h"
#include "callbacks/weights/gradual_unfreezing.h"
#include "callbacks/weights/unfreezing_recipes.h"
#include "finetuning/freezer/model_freezer.h"
#include "finetuning/warm_start/export_model.h"
#include "finetuning/warm_start/warm_start.h"
#include "schedulers/cosine.h"
#include "schedulers/linear.h"
#include "trainer/data/batch.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/losses.h"
#include "trainer/optim/adamw.h"
#include "trainer/or_throw.h"
#include "trainer/supervised.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

// 256 points of the square, and whether each lies in a circle.
Example CirclePoints() {
  at::manual_seed(3);
  const at::Tensor points = at::rand({256, 2}).mul_(2).sub_(1);
  return {points, points.square().sum(1).lt(0.6).to(at::kLong)};
}

torch::nn::Sequential CircleNet() {
  at::manual_seed(1);
  return torch::nn::Sequential(torch::nn::Linear(2, 16), torch::nn::ReLU(),
                               torch::nn::Linear(16, 2));
}

std::string NewFolder(const std::string& name) {
  const std::string folder = ::testing::TempDir() + "/" + name;
  std::filesystem::remove_all(folder);
  return folder;
}

TEST(PagesTest, Schedules) {
  const DatasetPtr data = MakeTensorDataset(CirclePoints());
  torch::nn::Sequential model = CircleNet();
  const auto backend = MakeBackend("sp");
  AdamW optimizer(*model, {.lr = 3e-3, .weight_decay = 0.1});
  Trainer trainer(Supervised(model, CrossEntropy()), optimizer, *backend);
  trainer.Add(
      LearningRateMonitor(optimizer, {.fields = {"lr", "weight_decay"}}));
  trainer.Train({.data = data,
                 .length = Epochs(4),
                 .schedule = Cosine({.warmup = Epochs(1), .min_ratio = 0.01}),
                 .schedules = {{.field = "weight_decay",
                                .schedule = Linear({.end_ratio = 0})}}});
  const std::vector<double> rates = trainer.history().Values("lr");
  ASSERT_EQ(rates.size(), 4);
  EXPECT_NEAR(rates[0], 3e-3, 1e-4);  // after the warm-up
  EXPECT_LT(rates[3], 1e-4);
  EXPECT_LT(trainer.history().Latest("weight_decay"), 0.01);
}

TEST(PagesTest, MixedPrecision) {
  const DatasetPtr data = MakeTensorDataset(CirclePoints());
  torch::nn::Sequential model = CircleNet();
  AdamW optimizer(*model, {.lr = 1e-2});
  const auto backend = MakeBackend("sp-amp", {.amp = {.dtype = at::kHalf}});
  Trainer trainer(Supervised(model, CrossEntropy()), optimizer, *backend);
  trainer.Train({.data = data, .length = Epochs(2)});
  EXPECT_EQ(model->parameters()[0].scalar_type(), at::kFloat);
  EXPECT_LT(trainer.history().Latest("train_loss"), 0.7);
}

at::Tensor TrainedOn(Backend& backend, torch::nn::Sequential model,
                     const DatasetPtr& data, int64_t per_device_batch_size) {
  AdamW optimizer(*model, {.lr = 1e-2});
  Trainer trainer(Supervised(model, CrossEntropy()), optimizer, backend);
  trainer.Train({.data = data,
                 .length = Epochs(2),
                 .per_device_batch_size = per_device_batch_size});
  return model->parameters()[0].detach().clone();
}

TEST(PagesTest, ManyProcesses) {
  const DatasetPtr data = MakeTensorDataset(CirclePoints());
  const auto alone = MakeBackend("sp");
  const at::Tensor expected = TrainedOn(*alone, CircleNet(), data, 32);
  // Made here, since ranks that are threads share the random generator.
  const std::vector<torch::nn::Sequential> models = {CircleNet(), CircleNet()};
  std::vector<at::Tensor> weights(2);
  RunRanks(2, [&](const Rendezvous& rendezvous) {
    const auto backend = MakeBackend("ddp", {.rendezvous = rendezvous});
    const int64_t rank = backend->rank();
    weights[rank] = TrainedOn(*backend, models[rank], data, 16);
  });
  EXPECT_TRUE(at::equal(weights[0], weights[1]));
  EXPECT_TRUE(at::allclose(weights[0], expected, 1e-4, 1e-6));
}

TEST(PagesTest, FineTuning) {
  const DatasetPtr data = MakeTensorDataset(CirclePoints());
  const std::string file = ::testing::TempDir() + "/trained.safetensors";
  torch::nn::Sequential trained = CircleNet();
  ASSERT_TRUE(ExportSafetensors(*trained, file).ok());

  at::manual_seed(2);
  torch::nn::Sequential model(torch::nn::Linear(2, 16), torch::nn::ReLU(),
                              torch::nn::Linear(16, 2));
  const at::Tensor body = model->parameters()[0];
  std::vector<bool> body_kept;

  OrThrow(WarmStart(file, *model, {.leave = {"2"}}));  // a new last layer
  ModelFreezer freezer(*model);
  freezer.FreezeGroups();  // all layers except the last
  AdamW optimizer(*model, {.lr = 1e-2});
  const auto backend = MakeBackend("sp");
  Trainer trainer(Supervised(model, CrossEntropy()), optimizer, *backend);
  trainer.Add(GradualUnfreezing(
      freezer, optimizer, AllAfterProbing({.probe_epochs = 2, .lr = 1e-4})));
  trainer.Add(On<TrainEpochEnd>([&](const TrainEpochEnd&, Control&) {
    body_kept.push_back(at::equal(body, trained->parameters()[0]));
  }));
  trainer.Train({.data = data, .length = Epochs(3)});
  EXPECT_THAT(body_kept, ::testing::ElementsAre(true, true, false));
  EXPECT_FALSE(at::equal(model->parameters()[2], trained->parameters()[2]));
  EXPECT_TRUE(ExportSafetensors(*model, file).ok());
}

TEST(PagesTest, Report) {
  const DatasetPtr data = MakeTensorDataset(CirclePoints());
  torch::nn::Sequential model = CircleNet();
  AdamW optimizer(*model, {.lr = 1e-2});
  const auto backend = MakeBackend("sp");
  Trainer trainer(Supervised(model, CrossEntropy()), optimizer, *backend);
  const std::string run_dir = NewFolder("tracked");
  if (backend->rank() == 0) {
    trainer.Add(
        Track({.run_dir = run_dir,
               .values = {{"lr", [&] { return optimizer.Field(0, "lr"); }}},
               .hooks = [&] { return trainer.callbacks().Describe(); }}));
  }
  trainer.Add(Throughput());
  trainer.Train({.data = data,
                 .eval_data = data,
                 .length = Epochs(2),
                 .report = Every(Batches(10)),
                 .checkpoint = {.directory = run_dir}});
  EXPECT_TRUE(std::filesystem::exists(run_dir + "/metrics.jsonl"));
  EXPECT_TRUE(std::filesystem::exists(run_dir + "/run.json"));
  EXPECT_GE(trainer.history().Latest("data_wait"), 0);
}

TEST(PagesTest, ALossThatIsNotANumber) {
  Example points = CirclePoints();
  points.input[100][0] = std::numeric_limits<double>::quiet_NaN();
  const DatasetPtr data = MakeTensorDataset(points);
  torch::nn::Sequential model = CircleNet();
  AdamW optimizer(*model, {.lr = 1e-2});
  const auto backend = MakeBackend("sp");
  Trainer trainer(Supervised(model, CrossEntropy()), optimizer, *backend);
  std::vector<int64_t> bad_batches;
  trainer.Add(On<LossEnd>([&](const LossEnd& e, Control&) {
    const at::Tensor input = e.batch.As<Example>().input;
    if (!input.isfinite().all().item<bool>())
      bad_batches.push_back(e.clock.batches());
  }));
  const RunResult result = trainer.Train({.data = data, .length = Epochs(1)});
  EXPECT_EQ(result.ending, RunEnding::kStopped);
  EXPECT_THAT(result.message,
              ::testing::StartsWith("loss is nan in epoch 1, batch "));
  EXPECT_EQ(bad_batches.size(), 1);
  EXPECT_FALSE(model->parameters()[0].isnan().any().item<bool>());
}

}  // namespace
}  // namespace trainyard
