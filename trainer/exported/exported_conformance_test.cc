// An exported model with every part that trains models: a run that is stopped
// and resumed ends equal to the bit, and each part does its work.
#include <ATen/Context.h>
#include <ATen/ops/equal.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
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
#include "trainer/exported/exported_model.h"
#include "trainer/exported/testing/test_runs.h"
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

struct Outcome {
  RunOutcome run;
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
        const auto other = LoadTestModel("conv");
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

  Outcome Train(const TrainOptions& options, std::optional<int64_t> stop_at) {
    const std::shared_ptr<ExportedModel> model = LoadTestModel("conv");
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
    const bool has_ema = GetParam().with == With::kEma;
    Outcome outcome{
        .run = TrainOnCorners(trainer, *optimizer, options, stop_at,
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

  const TrainOptions options_ = {.length = Epochs(4),
                                 .per_device_batch_size = 6};

 private:
  std::optional<Lora> lora_;
};

TEST_P(ExportedConformanceTest, ResumesToTheBit) {
  const auto train = [&](const TrainOptions& options,
                         std::optional<int64_t> stop_at) {
    return Train(options, stop_at).run;
  };
  ExpectResumesToTheBit(train, options_, {1, 5, 9, 16});
}

TEST_P(ExportedConformanceTest, TrainsWhatItShould) {
  const Outcome outcome = Train(options_, std::nullopt);
  EXPECT_GT(outcome.run.accuracies.back(), 0.6);
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
    [](const ::testing::TestParamInfo<Variant>& tested) {
      return std::string(tested.param.name);
    });

}  // namespace
}  // namespace trainyard
