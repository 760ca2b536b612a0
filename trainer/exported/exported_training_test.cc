// An exported model with the trainer and the parts of fine-tuning: as any other
// model.
#include <ATen/Context.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "backends/make_backend.h"
#include "finetuning/ema.h"
#include "finetuning/freezer/model_freezer.h"
#include "finetuning/warm_start/export_model.h"
#include "finetuning/warm_start/warm_start.h"
#include "trainer/checkpoint/safetensors/safetensors.h"
#include "trainer/exported/exported_model.h"
#include "trainer/exported/testing/test_runs.h"
#include "trainer/losses.h"
#include "trainer/optim/adamw.h"
#include "trainer/or_throw.h"
#include "trainer/supervised.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

// With batch normalisation, dropout and a buffer that is assigned to.
RunOutcome Train(int64_t epochs, const std::string& backend_name) {
  const auto model = LoadTestModel("conv");
  AdamW optimizer({ParamGroup{.params = model->TrainedParameters()}},
                  {.lr = 0.01});
  const auto backend = MakeBackend(backend_name);
  Trainer trainer(Supervised(model, CrossEntropy(), {{"accuracy", Accuracy()}}),
                  optimizer, *backend);
  return TrainOnCorners(trainer, optimizer,
                        {.length = Epochs(epochs), .per_device_batch_size = 6},
                        std::nullopt);
}

TEST(ExportedTrainingTest, IsTrainedLikeAnyOther) {
  EXPECT_GT(Train(15, "sp").accuracies.back(), 0.95);
}

// The example of README.md and of the header.
TEST(ExportedTrainingTest, ReadmeExample) {
  const std::filesystem::path here = std::filesystem::current_path();
  const std::filesystem::path there = ::testing::TempDir();
  std::filesystem::copy_file("trainer/exported/testdata/conv.safetensors",
                             there / "net.safetensors",
                             std::filesystem::copy_options::overwrite_existing);
  std::filesystem::current_path(there);
  const auto backend = MakeBackend("sp");
  auto model = OrThrow(LoadExported("net.safetensors"));
  AdamW optimizer(*model);
  Trainer trainer(Supervised(model, CrossEntropy()), optimizer, *backend);
  std::filesystem::current_path(here);
  EXPECT_EQ(trainer.task().NamedTensors().size(), 15);
}

TEST(ExportedTrainingTest, IsTrainedInLowPrecision) {
  EXPECT_GT(Train(15, "sp-amp").accuracies.back(), 0.95);
}

TEST(ExportedTrainingTest, IsFrozenWarmStartedAndAveraged) {
  const auto model = LoadTestModel("conv");
  const auto other = LoadTestModel("conv");
  other->Parameters()[0].tensor.detach().mul_(2);
  const std::string path = ::testing::TempDir() + "/weights.safetensors";
  ASSERT_TRUE(ExportSafetensors(*other, path).ok());
  const auto report = WarmStart(path, *model);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(
      at::equal(model->Parameters()[0].tensor, other->Parameters()[0].tensor));

  ModelFreezer freezer(*model, {.batch_norms = BatchNorms::kFreeze});
  EXPECT_THAT(freezer.Groups(),
              ElementsAre("stem", "norm", "body", "body_norm", "head"));
  EXPECT_TRUE(freezer.Layers()[1].is_batch_norm);
  freezer.FreezeGroups();
  EXPECT_EQ(model->TrainedParameters().size(), 2);
  AdamW optimizer({ParamGroup{.params = freezer.TrainableParameters()}},
                  {.lr = 0.05});
  Ema ema(*model, {.decay = 0.5});
  CrossEntropy()(model->forward(at::randn({4, 1, 12, 12})),
                 at::randint(4, {4}, at::kLong))
      .backward();
  EXPECT_FALSE(model->Parameters()[0].tensor.grad().defined());
  const at::Tensor head = model->TrainedParameters()[0].tensor;
  const at::Tensor before = head.detach().clone();
  optimizer.step();
  ema.Update();
  const at::Tensor after = head.detach().clone();
  EXPECT_FALSE(at::equal(before, after));
  {
    const Ema::Swap averaged(ema);
    EXPECT_FALSE(at::equal(head, after));
  }
  EXPECT_TRUE(at::equal(head, after));
}

TEST(ExportedTrainingTest, AFreezerCannotHoldModes) {
  const auto model = LoadTestModel("conv");
  EXPECT_THROW(
      ModelFreezer(*model, {.batch_norms = BatchNorms::kFreezeWithStatistics}),
      c10::ValueError);
}

// A file with every name of Python's state_dict goes back, tied or not.
TEST(ExportedTrainingTest, TakesAStateDictWithTiedWeights) {
  const auto model = LoadTestModel("transformer");
  const auto other = LoadTestModel("transformer");
  other->Parameters()[0].tensor.detach().mul_(2);
  const std::string path = ::testing::TempDir() + "/tied.safetensors";
  ASSERT_TRUE(ExportSafetensors(other->StateDict(), path).ok());
  const auto report =
      WarmStart(OrThrow(ReadSafetensors(path)).tensors, model->StateDict());
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(
      at::equal(model->Parameters()[0].tensor, other->Parameters()[0].tensor));
}

}  // namespace
}  // namespace trainyard
