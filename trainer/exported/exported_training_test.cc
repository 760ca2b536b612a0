// An exported model with the trainer and the parts of fine-tuning: as any other
// model.
#include <ATen/Context.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/one_hot.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "backends/make_backend.h"
#include "finetuning/ema.h"
#include "finetuning/freezer/model_freezer.h"
#include "finetuning/warm_start/export_model.h"
#include "finetuning/warm_start/warm_start.h"
#include "trainer/checkpoint/safetensors/safetensors.h"
#include "trainer/checkpoint/state_crc32c.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/exported/exported_model.h"
#include "trainer/losses.h"
#include "trainer/optim/adamw.h"
#include "trainer/or_throw.h"
#include "trainer/supervised.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

std::shared_ptr<ExportedModel> Loaded(const std::string& model) {
  return OrThrow(
      LoadExported("trainer/exported/testdata/" + model + ".safetensors"));
}

// Images of four classes: each is bright in another corner.
DatasetPtr Images(int64_t count) {
  at::manual_seed(7);
  const at::Tensor labels = at::randint(4, {count}, at::kLong);
  const at::Tensor corners = at::one_hot(labels, 4)
                                 .view({count, 1, 2, 2})
                                 .repeat_interleave(6, 2)
                                 .repeat_interleave(6, 3);
  const at::Tensor images = at::randn({count, 1, 12, 12}).add(corners.mul(2));
  return MakeTensorDataset(Example{images, labels});
}

struct Outcome {
  uint32_t crc = 0;
  std::vector<double> losses, accuracies;
};

// With batch normalisation, dropout and a buffer that is assigned to.
Outcome Train(TrainOptions options, const std::string& backend_name = "sp",
              int64_t stop_at = -1) {
  const std::shared_ptr<ExportedModel> model = Loaded("conv");
  AdamW optimizer({ParamGroup{.params = model->TrainedParameters()}},
                  {.lr = 0.01});
  const auto backend = MakeBackend(backend_name);
  Trainer trainer(Supervised(model, CrossEntropy(), {{"accuracy", Accuracy()}}),
                  optimizer, *backend);
  int64_t steps = 0;
  trainer.Add(On<StepEnd>([&](const StepEnd&, Control& control) {
    if (++steps == stop_at) control.RequestStop("the test says so");
  }));
  options.data = Images(40);
  options.eval_data = Images(40);
  options.per_device_batch_size = 6;
  options.seed = 3;
  trainer.Train(options);
  std::vector<NamedTensor> state = trainer.task().NamedTensors();
  for (NamedTensor& item : optimizer.NamedTensors())
    state.push_back(std::move(item));
  return {.crc = StateCrc32c(state),
          .losses = trainer.history().Values("train_loss"),
          .accuracies = trainer.history().Values("eval_accuracy")};
}

TEST(ExportedTrainingTest, IsTrainedLikeAnyOther) {
  EXPECT_GT(Train({.length = Epochs(15)}).accuracies.back(), 0.95);
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
  EXPECT_GT(Train({.length = Epochs(15)}, "sp-amp").accuracies.back(), 0.95);
}

TEST(ExportedTrainingTest, AResumedRunEndsEqualToTheBit) {
  const Outcome straight = Train({.length = Epochs(3)});
  const std::string folder = ::testing::TempDir() + "/exported_resume";
  for (const int64_t stop : {1, 5, 7, 16, 20}) {
    std::filesystem::remove_all(folder);
    const TrainOptions saved = {
        .length = Epochs(3),
        .checkpoint = {.directory = folder, .save = Every(Batches(4))},
        .resume = Resume::kIfPresent};
    Train(saved, "sp", stop);
    const Outcome resumed = Train(saved);
    EXPECT_EQ(resumed.crc, straight.crc) << "stopped at " << stop;
    EXPECT_EQ(resumed.losses, straight.losses) << "stopped at " << stop;
  }
}

TEST(ExportedTrainingTest, IsFrozenWarmStartedAndAveraged) {
  const auto model = Loaded("conv");
  const auto other = Loaded("conv");
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
  const auto model = Loaded("conv");
  EXPECT_THROW(
      ModelFreezer(*model, {.batch_norms = BatchNorms::kFreezeWithStatistics}),
      c10::ValueError);
}

// A file with every name of Python's state_dict goes back, tied or not.
TEST(ExportedTrainingTest, TakesAStateDictWithTiedWeights) {
  const auto model = Loaded("transformer");
  const auto other = Loaded("transformer");
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
