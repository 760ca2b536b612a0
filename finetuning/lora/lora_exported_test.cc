// Lora on a model that was exported from Python.
#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "finetuning/lora/adapter_files.h"
#include "finetuning/lora/lora.h"
#include "finetuning/lora/lora_model.h"
#include "tools/testing/error_of.h"
#include "trainer/exported/exported_model.h"
#include "trainer/optim/adamw.h"
#include "trainer/or_throw.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LoraExportedTest : public ::testing::Test {
 protected:
  // Without dropout.
  at::Tensor Evaluated() {
    const at::NoGradGuard no_gradients;
    model_->SetTraining(false);
    at::Tensor logits = model_->Run({tokens_, padding_})[0];
    model_->SetTraining(true);
    return logits;
  }
  // As training would.
  static void Disturb(const Lora& lora) {
    const at::NoGradGuard no_gradients;
    for (const NamedTensor& item : lora.Parameters()) {
      item.tensor.add_(at::randn(item.tensor.sizes()), 0.1);
    }
  }

  // The embedding is also the weight of the head.
  const std::shared_ptr<ExportedModel> model_ = OrThrow(
      LoadExported("trainer/exported/testdata/transformer.safetensors"));
  const at::Tensor tokens_ = at::randint(32, {3, 9}, at::kLong);
  const at::Tensor padding_ = at::zeros({3, 9}, at::kBool);
  const LoraOptions options_ = {.targets = {"words", "*.qkv", "*.mlp.0"},
                                .rank = 3,
                                .also_train = {"norm"}};
};

TEST_F(LoraExportedTest, SeesLayersByTheirPythonNames) {
  const std::unique_ptr<LoraModel> model = LoraModelOf(*model_);
  std::vector<std::string> can, cannot;
  for (const LoraModel::Layer& layer : model->layers()) {
    (layer.kind ? can : cannot).push_back(layer.name);
  }
  EXPECT_THAT(can,
              ElementsAre("words", "places", "blocks.0.qkv", "blocks.0.out",
                          "blocks.0.mlp.0", "blocks.0.mlp.3", "blocks.1.qkv",
                          "blocks.1.out", "blocks.1.mlp.0", "blocks.1.mlp.3"));
  EXPECT_THAT(cannot, ElementsAre("blocks", "blocks.0", "blocks.0.norm1",
                                  "blocks.0.norm2", "blocks.0.mlp", "blocks.1",
                                  "blocks.1.norm1", "blocks.1.norm2",
                                  "blocks.1.mlp", "norm"));
}

TEST_F(LoraExportedTest, ChangesNothingUntilItIsTrained) {
  const at::Tensor before = Evaluated();
  const Lora lora(*model_, options_);
  EXPECT_TRUE(at::allclose(Evaluated(), before, 1e-5, 1e-6));
  EXPECT_THAT(lora.AdaptedLayers(),
              ElementsAre("words", "blocks.0.qkv", "blocks.0.mlp.0",
                          "blocks.1.qkv", "blocks.1.mlp.0"));
}

TEST_F(LoraExportedTest, OnlyAdaptersAndWhatIsTrainedBesideThemHaveGradients) {
  const Lora lora(*model_, options_);
  Disturb(lora);
  model_->Run({tokens_, padding_})[0].square().mean().backward();
  size_t with_gradient = 0;
  for (const NamedTensor& item : model_->Parameters()) {
    EXPECT_EQ(item.tensor.requires_grad(), item.tensor.grad().defined())
        << item.name;
    with_gradient += item.tensor.grad().defined();
  }
  EXPECT_EQ(with_gradient, 12);
  EXPECT_EQ(lora.Parameters().size(), 12);
}

TEST_F(LoraExportedTest, ComputesAsIfTheWeightsWereChanged) {
  const at::Tensor before = Evaluated();
  Lora lora(*model_, options_);
  Disturb(lora);
  const at::Tensor beside = Evaluated();
  EXPECT_FALSE(at::allclose(beside, before, 1e-2, 1e-2));
  lora.Merge();
  EXPECT_TRUE(at::allclose(Evaluated(), beside, 1e-4, 1e-5));
  lora.Unmerge();
  EXPECT_TRUE(at::equal(Evaluated(), beside));
}

TEST_F(LoraExportedTest, LearnsAndIsSavedAsPeftDoes) {
  at::manual_seed(1);
  const std::string folder = ::testing::TempDir() + "/adapters";
  at::Tensor learnt;
  {
    Lora lora(*model_, options_);
    AdamW optimizer(*model_, {.lr = 0.02});
    double first = 0, last = 0;
    for (int update = 0; update < 60; ++update) {
      optimizer.ZeroGrad();
      const at::Tensor loss =
          model_->Run({tokens_, padding_})[0].square().mean();
      loss.backward();
      optimizer.step();
      last = loss.item<double>();
      if (update == 0) first = last;
    }
    EXPECT_LT(last, first / 2);
    learnt = Evaluated();
    OrThrow(SaveAdapters(lora, folder));
  }
  EXPECT_FALSE(at::allclose(Evaluated(), learnt, 1e-2, 1e-2));
  EXPECT_EQ(model_->Parameters().size(), 26);
  Lora again(*model_, OrThrow(AdapterOptions(folder)));
  OrThrow(LoadAdapters(folder, again));
  EXPECT_TRUE(at::allclose(Evaluated(), learnt, 1e-5, 1e-6));
}

TEST_F(LoraExportedTest, ErrorsSayWhatThereIs) {
  const auto error = [&](const LoraOptions& options) {
    return ErrorOf<c10::Error>([&] { const Lora lora(*model_, options); });
  };
  EXPECT_THAT(error({.targets = {"block.0.qkv"}}),
              HasSubstr("matches no layer; near it are \"blocks.0.qkv\""));
  EXPECT_THAT(error({.targets = {"norm"}}),
              HasSubstr("\"norm\" in targets matches \"norm\", which cannot be "
                        "adapted"));
  const Lora lora(*model_, options_);
  EXPECT_THAT(error(options_), HasSubstr("has an adapter already"));
}

}  // namespace
}  // namespace trainyard
