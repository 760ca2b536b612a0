// An exported model with every part that trains models: a run that is stopped
// and resumed ends equal to the bit, and each part does its work.
#include <ATen/Context.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/one_hot.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "backends/make_backend.h"
#include "callbacks/weights/model_ema.h"
#include "finetuning/freezer/model_freezer.h"
#include "finetuning/layer_lr.h"
#include "finetuning/lora/lora.h"
#include "finetuning/warm_start/export_model.h"
#include "finetuning/warm_start/warm_start.h"
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

enum class With {
  kNothing,
  kLora,
  kLayerRates,
  kFreezer,
  kWarmStart,
  kEma,
};

struct Variant {
  const char* name;
  With with;
  const char* backend = "sp";
  at::ScalarType dtype = at::kBFloat16;
};

std::ostream& operator<<(std::ostream& out, const Variant& variant) {
  return out << variant.name;
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

std::shared_ptr<ExportedModel> Conv() {
  return OrThrow(LoadExported("trainer/exported/testdata/conv.safetensors"));
}

struct Outcome {
  uint32_t crc = 0;
  std::vector<double> losses, accuracies;
  // What was trained, and whether it has changed.
  std::vector<std::string> trained, unchanged;
};

class ExportedConformanceTest : public ::testing::TestWithParam<Variant> {
 protected:
  // The model's optimizer, after the variant's part has prepared the model.
  std::unique_ptr<AdamW> Prepare(ExportedModel& model) {
    const AdamWOptions options = {.lr = 0.02};
    switch (GetParam().with) {
      case With::kLora:
        at::manual_seed(5);
        lora_.emplace(model, LoraOptions{.targets = {"stem", "body"},
                                         .rank = 2,
                                         .dropout = 0.1,
                                         .also_train = {"head"}});
        return std::make_unique<AdamW>(model, options);
      case With::kLayerRates:
        return std::make_unique<AdamW>(
            LayerLr(model, {.lr = 0.02, .decay = 0.8}), options);
      case With::kFreezer:
        ModelFreezer(model, {.batch_norms = BatchNorms::kFreeze})
            .FreezeMatching("stem");
        return std::make_unique<AdamW>(model, options);
      case With::kWarmStart: {
        const auto other = Conv();
        other->Parameters()[0].tensor.detach().mul_(2);
        const std::string path = ::testing::TempDir() + "/warm.safetensors";
        OrThrow(ExportSafetensors(*other, path));
        OrThrow(WarmStart(path, model).status());
        EXPECT_TRUE(at::equal(model.Parameters()[0].tensor,
                              other->Parameters()[0].tensor));
        return std::make_unique<AdamW>(model, options);
      }
      default:
        return std::make_unique<AdamW>(model, options);
    }
  }

  Outcome Train(TrainOptions options, std::optional<int64_t> stop_at) {
    const std::shared_ptr<ExportedModel> model = Conv();
    const std::unique_ptr<AdamW> optimizer = Prepare(*model);
    const auto backend =
        MakeBackend(GetParam().backend, {.amp = {.dtype = GetParam().dtype}});
    std::vector<at::Tensor> before;
    for (const NamedTensor& item : model->Parameters()) {
      before.push_back(item.tensor.detach().clone());
    }
    Trainer trainer(
        Supervised(model, CrossEntropy(), {{"accuracy", Accuracy()}}),
        *optimizer, *backend);
    if (GetParam().with == With::kEma) {
      trainer.Add(ModelEma(*model, {.decay = {.decay = 0.8}}));
    }
    int64_t steps = 0;
    trainer.Add(On<StepEnd>([&](const StepEnd&, Control& control) {
      if (++steps == stop_at) control.RequestStop("the test says so");
    }));
    options.data = Images(40);
    options.eval_data = Images(40);
    options.length = Epochs(4);
    options.per_device_batch_size = 6;
    options.seed = 3;
    trainer.Train(options);
    std::vector<NamedTensor> state = trainer.task().NamedTensors();
    for (NamedTensor& item : optimizer->NamedTensors()) {
      state.push_back(std::move(item));
    }
    const bool has_ema = GetParam().with == With::kEma;
    Outcome outcome{.crc = StateCrc32c(state),
                    .losses = trainer.history().Values("train_loss"),
                    .accuracies = trainer.history().Values(
                        has_ema ? "ema_eval_accuracy" : "eval_accuracy"),
                    .trained = {},
                    .unchanged = {}};
    for (const NamedTensor& item : model->TrainedParameters()) {
      outcome.trained.push_back(item.name);
    }
    for (size_t i = 0; i < before.size(); ++i) {
      const NamedTensor item = model->Parameters()[i];
      if (at::equal(item.tensor, before[i])) {
        outcome.unchanged.push_back(item.name);
      }
    }
    lora_.reset();  // before the model
    return outcome;
  }

 private:
  std::optional<Lora> lora_;
};

TEST_P(ExportedConformanceTest, ResumesToTheBit) {
  const Outcome straight = Train({}, std::nullopt);
  EXPECT_GT(straight.accuracies.back(), 0.6);
  const std::string folder =
      ::testing::TempDir() + "/resume_" + GetParam().name;
  for (const int64_t stop : {5, 9}) {
    std::filesystem::remove_all(folder);
    const TrainOptions saved = {
        .checkpoint = {.directory = folder, .save = Every(Batches(4))},
        .resume = Resume::kIfPresent};
    Train(saved, stop);
    const Outcome resumed = Train(saved, std::nullopt);
    EXPECT_EQ(resumed.crc, straight.crc) << "stopped at " << stop;
    EXPECT_EQ(resumed.losses, straight.losses) << "stopped at " << stop;
    EXPECT_EQ(resumed.accuracies, straight.accuracies) << "stopped at " << stop;
  }
}

TEST_P(ExportedConformanceTest, TrainsWhatItShould) {
  const Outcome outcome = Train({}, std::nullopt);
  using ::testing::ElementsAre;
  switch (GetParam().with) {
    case With::kLora:
      EXPECT_THAT(outcome.trained,
                  ElementsAre("head.weight", "head.bias", "stem.lora_A.weight",
                              "stem.lora_B.weight", "body.lora_A.weight",
                              "body.lora_B.weight"));
      EXPECT_THAT(
          outcome.unchanged,
          ElementsAre("stem.weight", "norm.weight", "norm.bias", "body.weight",
                      "body_norm.weight", "body_norm.bias"));
      break;
    case With::kFreezer:
      EXPECT_THAT(outcome.unchanged, ElementsAre("stem.weight"));
      break;
    default:
      EXPECT_EQ(outcome.trained.size(), 8);
      EXPECT_THAT(outcome.unchanged, ElementsAre());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Variants, ExportedConformanceTest,
    ::testing::Values(Variant{"plain", With::kNothing},
                      Variant{"bf16", With::kNothing, "sp-amp"},
                      Variant{"fp16", With::kNothing, "sp-amp", at::kHalf},
                      Variant{"lora", With::kLora},
                      Variant{"lora_bf16", With::kLora, "sp-amp"},
                      Variant{"layer_rates", With::kLayerRates},
                      Variant{"freezer", With::kFreezer},
                      Variant{"warm_start", With::kWarmStart},
                      Variant{"ema", With::kEma}),
    [](const ::testing::TestParamInfo<Variant>& info) {
      return std::string(info.param.name);
    });

}  // namespace
}  // namespace trainyard
