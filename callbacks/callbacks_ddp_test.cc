// Callbacks that several processes must agree in.
#include <ATen/Context.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "backends/make_backend.h"
#include "callbacks/predictions/predictions_to_file.h"
#include "callbacks/setup/convert_sync_batch_norm.h"
#include "callbacks/weights/learning_rate_finder.h"
#include "callbacks/weights/model_ema.h"
#include "callbacks/weights/save_best.h"
#include "tools/launch/testing/test_rank.h"
#include "trainer/losses.h"
#include "trainer/optim/adamw.h"
#include "trainer/supervised.h"
#include "trainer/testing/line_rig.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

// One for all tests: its process group is the process's own.
Backend& Ddp() {
  static const std::unique_ptr<Backend> backend =
      MakeBackend("ddp", {.device = at::Device(TestDevice())});
  return *backend;
}

// The same for all processes, and empty.
std::string NewFolder(const std::string& name) {
  const std::string folder =
      std::string(std::getenv("TEST_TMPDIR")) + "/" + name;
  Ddp().collectives().Barrier();
  if (Ddp().rank() == 0) {
    fs::remove_all(folder);
    fs::create_directories(folder);
  }
  Ddp().collectives().Barrier();
  return folder;
}

TrainOptions Options() {
  return {.data = LinePoints(16),
          .eval_data = LinePoints(7),
          .length = Epochs(3),
          .per_device_batch_size = 2};
}

bool SameOnAll(const at::Tensor& mine) {
  for (const at::Tensor& other : Ddp().collectives().AllGather(mine)) {
    if (!at::equal(mine, other)) return false;
  }
  return true;
}

TEST(RunStartDdpTest, GivesEachRankItsNumberAndCollectives) {
  LineRig rig(/*lr=*/0.1, &Ddp());
  at::Tensor ranks;
  rig.trainer().Add(On<RunStart>([&](const RunStart& e, Control&) {
    EXPECT_EQ(e.backend.num_processes(), TestWorldSize());
    ranks = at::tensor({e.backend.rank()}).to(e.backend.device());
    e.backend.collectives().AllReduce(ranks, ReduceOp::kSum);
  }));
  rig.trainer().Train(Options());
  ASSERT_TRUE(ranks.defined());
  EXPECT_EQ(ranks.item<int64_t>(), TestWorldSize() * (TestWorldSize() - 1) / 2);
}

TEST(SaveBestDdpTest, OneWritesAndAllHaveTheBest) {
  const std::string folder = NewFolder("best");
  LineRig rig(/*lr=*/0.1, &Ddp());
  auto& best = rig.trainer().Add(
      SaveBest(rig.trainer().task().NamedTensors(), {.directory = folder}));
  // Worse again after the second epoch, and different on each process.
  at::Tensor kept;
  rig.trainer().Add(On<EpochEnd>([&](const EpochEnd& e, Control&) {
                      if (e.clock.epoch() != 1) return;
                      kept = rig.weight();
                      rig.optimizer().Field(0, "lr") = 100;
                    }),
                    {.priority = 99});
  rig.trainer().Train(Options());
  EXPECT_TRUE(at::equal(rig.weight(), kept));
  EXPECT_TRUE(SameOnAll(rig.weight()));
  ASSERT_EQ(best.saved().size(), 1);
  EXPECT_EQ(best.saved()[0].epoch, 2);
  Ddp().collectives().Barrier();
  EXPECT_TRUE(fs::exists(best.PathOf(best.saved()[0])));
}

TEST(SaveBestDdpTest, AFailureOfTheFirstEndsAll) {
  const std::string file = NewFolder("taken") + "/file";
  if (Ddp().rank() == 0) std::ofstream(file) << "not a folder";
  Ddp().collectives().Barrier();
  LineRig rig(/*lr=*/0.1, &Ddp());
  rig.trainer().Add(
      SaveBest(rig.trainer().task().NamedTensors(), {.directory = file}));
  EXPECT_THROW(rig.trainer().Train(Options()), std::exception);
}

TEST(ModelEmaDdpTest, AllHaveTheBestAverages) {
  const std::string folder = NewFolder("best_ema");
  at::manual_seed(1);
  TestLinear model(3, 1);
  AdamW optimizer(*model, {.lr = 0.1});
  Trainer trainer(Supervised(model, MeanSquaredError()), optimizer, Ddp());
  ModelEma& ema = trainer.Add(ModelEma(*model, {.decay = {.decay = 0.5}}));
  trainer.Add(SaveBest(trainer.task().NamedTensors(),
                       {.directory = folder, .metric = "ema_eval_loss"}));
  trainer.Train(Options());
  const std::vector<double> losses = trainer.history().Values("ema_eval_loss");
  EXPECT_EQ(losses.size(), 3);
  EXPECT_TRUE(SameOnAll(at::tensor(losses, at::kDouble)));
  const at::Tensor average = ema.ema().NamedTensors()[1].tensor;  // "weight"
  EXPECT_TRUE(SameOnAll(average));
  EXPECT_TRUE(at::equal(model["weight"], average));
}

// Index and prediction of each line.
std::vector<std::pair<int64_t, double>> Lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::pair<int64_t, double>> lines;
  std::string line;
  std::getline(file, line);
  EXPECT_EQ(line, "index,prediction");
  while (std::getline(file, line)) {
    const size_t comma = line.find(',');
    lines.emplace_back(std::stoll(line), std::stod(line.substr(comma + 1)));
  }
  return lines;
}

// 13 records in batches of 2 per process: one is left for the last batch, which
// all but the first process get as padding. And 3, in one uneven batch.
TEST(PredictionsDdpTest, EachRecordOnceInTheDatasetsOrder) {
  const std::string folder = NewFolder("predictions");
  for (const int64_t size : {13, 3}) {
    LineRig shared(/*lr=*/0.1, &Ddp()), alone;
    shared.trainer().Add(PredictionsToFile({.path = folder + "/shared.csv"}));
    shared.trainer().Evaluate(LinePoints(size), 2);
    Ddp().collectives().Barrier();
    const std::string mine =
        folder + "/alone" + std::to_string(Ddp().rank()) + ".csv";
    alone.trainer().Add(PredictionsToFile({.path = mine}));
    alone.trainer().Evaluate(LinePoints(size), 2);
    const auto lines = Lines(folder + "/shared.csv"), wanted = Lines(mine);
    ASSERT_EQ(static_cast<int64_t>(lines.size()), size);
    for (size_t i = 0; i < lines.size(); ++i) {
      EXPECT_EQ(lines[i].first, static_cast<int64_t>(i));
      EXPECT_NEAR(lines[i].second, wanted[i].second, 1e-5);
    }
    Ddp().collectives().Barrier();
  }
}

TEST(LearningRateFinderDdpTest, AllMeasureTheSame) {
  LineRig rig(/*lr=*/0.1, &Ddp());
  const at::Tensor weight = rig.weight();
  auto& finder = rig.trainer().Add(
      LearningRateFinder(rig.optimizer(), rig.trainer().task().NamedTensors(),
                         {.min_lr = 1e-4, .updates = 30}));
  TrainOptions options = Options();
  options.length = Epochs(100);
  rig.trainer().Train(options);
  EXPECT_TRUE(at::equal(rig.weight(), weight));
  ASSERT_GT(finder.curve().points().size(), 10);
  std::vector<double> losses;
  for (const auto& point : finder.curve().points())
    losses.push_back(point.loss);
  EXPECT_TRUE(SameOnAll(at::tensor(losses, at::kDouble)));
}

TEST(ConvertSyncBatchNormDdpTest, ConvertsBeforeTheRun) {
  TestSequential model{TestBatchNorm1d(3)};
  LineRig rig(/*lr=*/0.1, &Ddp());
  rig.trainer().Add(ConvertSyncBatchNorm(model.ptr(), Ddp()));
  rig.trainer().Evaluate(LinePoints(4));
  EXPECT_THAT(model->children()[0]->name(),
              ::testing::HasSubstr("SyncBatchNorm"));
}

}  // namespace
}  // namespace trainyard
