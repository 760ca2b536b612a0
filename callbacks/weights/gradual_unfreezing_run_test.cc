// GradualUnfreezing in a run, and in one that is resumed.
#include <ATen/Context.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/rand.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "backends/make_backend.h"
#include "callbacks/weights/gradual_unfreezing.h"
#include "callbacks/weights/unfreezing_recipes.h"
#include "finetuning/freezer/model_freezer.h"
#include "schedulers/cosine.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/losses.h"
#include "trainer/optim/adamw.h"
#include "trainer/supervised.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

TestSequential Model() {
  at::manual_seed(3);
  return TestSequential{TestLinear(3, 4), TestBatchNorm1d(4), TestLinear(4, 4),
                        TestLinear(4, 1)};
}

DatasetPtr Data() {
  at::manual_seed(4);
  const at::Tensor x = at::rand({32, 3});
  return MakeTensorDataset(Example{x, x.sum(1, /*keepdim=*/true)});
}

const std::vector<UnfreezeStep> kSteps = {
    {.after_epochs = 2, .pattern = "0", .overrides = {{"lr", 1e-3}}},
    {.after_epochs = 1, .from = -2, .to = -2, .overrides = {{"lr", 5e-3}}}};

TEST(GradualUnfreezingRunTest, HeaderExamples) {
  TestSequential model = Model();
  ModelFreezer freezer(*model);
  freezer.FreezeGroups();
  AdamW optimizer(*model, {.lr = 1e-3});
  const auto backend = MakeBackend("sp");
  Trainer trainer(Supervised(model, MeanSquaredError()), optimizer, *backend);
  trainer.Add(GradualUnfreezing(freezer, optimizer,
                                {{.after_epochs = 1, .from = -2, .to = -2}}));
  EXPECT_EQ(optimizer.num_groups(), 1);
}

TEST(GradualUnfreezingRunTest, HeaderExamplesOfRecipes) {
  TestSequential model = Model();
  ModelFreezer freezer(*model);
  freezer.FreezeGroups();
  AdamW optimizer(*model, {.lr = 1e-3});
  const auto backend = MakeBackend("sp");
  {
    Trainer trainer(Supervised(model, MeanSquaredError()), optimizer, *backend);
    trainer.Add(GradualUnfreezing(freezer, optimizer,
                                  OneGroupAtATime(freezer, {.lr = 1e-3})));
  }
  Trainer trainer(Supervised(model, MeanSquaredError()), optimizer, *backend);
  trainer.Add(GradualUnfreezing(
      freezer, optimizer, AllAfterProbing({.probe_epochs = 3, .lr = 1e-5})));
  EXPECT_EQ(optimizer.num_groups(), 1);
}

// What a program does at its start, whether it resumes or not.
struct Program {
  Program() {
    freezer.FreezeGroups();
    optimizer = std::make_unique<AdamW>(*model, AdamWOptions{.lr = 0.05});
    trainer = std::make_unique<Trainer>(Supervised(model, MeanSquaredError()),
                                        *optimizer, *backend);
    trainer->Add(GradualUnfreezing(freezer, *optimizer, kSteps));
    trainer->Add(On<UpdateEnd>([this](const UpdateEnd& e, Control& control) {
      if (e.clock.updates() == stop_after) control.RequestStop("enough");
    }));
  }
  void Train(const std::string& folder, int64_t last_update = 0) {
    stop_after = last_update;
    trainer->Train({.data = Data(),
                    .length = Epochs(4),
                    .per_device_batch_size = 8,
                    .schedule = Cosine(),
                    .checkpoint = {.directory = folder},
                    .resume = Resume::kIfPresent});
  }

  TestSequential model = Model();
  ModelFreezer freezer{*model,
                       {.batch_norms = BatchNorms::kFreezeWithStatistics}};
  std::unique_ptr<AdamW> optimizer;
  std::unique_ptr<Backend> backend = MakeBackend("sp");
  std::unique_ptr<Trainer> trainer;
  int64_t stop_after = 0;
};

std::string EmptyFolder(const std::string& name) {
  const std::string folder = testing::TempDir() + "/" + name;
  std::filesystem::remove_all(folder);
  return folder;
}

TEST(GradualUnfreezingRunTest, UnfreezesInItsEpochs) {
  Program program;
  const at::Tensor stem = program.model->named_parameters()["0.weight"];
  const at::Tensor middle = program.model->named_parameters()["2.weight"];
  std::vector<bool> stem_moved, middle_moved;
  at::Tensor stem_before = stem.detach().clone();
  at::Tensor middle_before = middle.detach().clone();
  program.trainer->Add(On<EpochEnd>([&](const EpochEnd&, Control&) {
    stem_moved.push_back(!at::equal(stem, stem_before));
    middle_moved.push_back(!at::equal(middle, middle_before));
    EXPECT_FALSE(program.model->children()[1]->is_training());
  }));
  program.Train(EmptyFolder("moves"));
  EXPECT_THAT(stem_moved, ElementsAre(false, false, true, true));
  EXPECT_THAT(middle_moved, ElementsAre(false, true, true, true));
  ASSERT_EQ(program.optimizer->num_groups(), 3);
  EXPECT_EQ(program.optimizer->Field(1, "lr"), 5e-3);
  EXPECT_EQ(program.optimizer->Field(2, "lr"), 1e-3);
  EXPECT_EQ(
      program.model->named_buffers()["1.num_batches_tracked"].item<int64_t>(),
      0);
}

TEST(GradualUnfreezingRunTest, ResumedRunEqualsAnUninterruptedOne) {
  Program whole;
  whole.Train(EmptyFolder("whole"));
  // Before the first step, within an epoch after it, after the last.
  for (const int64_t stop : {3, 7, 10}) {
    const std::string folder = EmptyFolder("parts" + std::to_string(stop));
    Program().Train(folder, stop);
    Program rest;
    rest.Train(folder);
    EXPECT_EQ(rest.optimizer->num_groups(), 3);
    for (const auto& item : whole.model->named_parameters()) {
      EXPECT_TRUE(
          at::equal(item.value(), rest.model->named_parameters()[item.key()]))
          << item.key() << " after a stop at " << stop;
    }
  }
}

// As finetuning/README.md has it.
TEST(GradualUnfreezingRunTest, OneGroupAtATime) {
  TestSequential model = Model();
  ModelFreezer freezer(*model);
  freezer.FreezeGroups();
  AdamW optimizer(*model, {.lr = 1e-2});
  const auto backend = MakeBackend("sp");
  Trainer trainer(Supervised(model, MeanSquaredError()), optimizer, *backend);
  trainer.Add(GradualUnfreezing(
      freezer, optimizer,
      OneGroupAtATime(freezer, {.epochs_each = 1, .lr = 1e-2})));
  trainer.Train({.data = Data(), .length = Epochs(3)});
  EXPECT_EQ(optimizer.num_groups(), 3);
}

}  // namespace
}  // namespace trainyard
