// The examples of README.md. The one with a Trainer is in
// callbacks/weights/gradual_unfreezing_run_test.cc.
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "finetuning/ema.h"
#include "finetuning/freezer/model_freezer.h"
#include "finetuning/layer_lr.h"
#include "finetuning/lora/adapter_files.h"
#include "finetuning/lora/lora.h"
#include "trainer/optim/adamw.h"
#include "trainer/or_throw.h"
#include "trainer/testing/modules.h"

namespace trainyard {
namespace {

class ReadmeTest : public testing::Test {
 protected:
  at::Tensor Loss() {
    return model->forward(input).sub(target).square().mean();
  }
  void TrainEpochs(TestSequential&, Optimizer& optimizer, int epochs) {
    for (int update = 0; update < 20 * epochs; ++update) {
      optimizer.ZeroGrad();
      Loss().backward();
      optimizer.step();
    }
  }

  TestSequential model{TestLinear(4, 8), TestLinear(8, 8), TestLinear(8, 1)};
  at::Tensor input = at::randn({64, 4});
  at::Tensor target = input.sum(1, /*keepdim=*/true);
  double before = Loss().item<double>();
};

TEST_F(ReadmeTest, Freezing) {
  ModelFreezer freezer(*model);
  freezer.FreezeGroups();  // all direct children of the model except the last
  AdamW optimizer(*model, {.lr = 1e-2});
  TrainEpochs(model, optimizer, 2);
  optimizer.AddGroup(
      {.params = freezer.UnfreezeGroups(-2, -2), .overrides = {{"lr", 1e-3}}});
  TrainEpochs(model, optimizer, 2);
  EXPECT_LT(Loss().item<double>(), before);
}

TEST_F(ReadmeTest, Averages) {
  AdamW optimizer(*model, {.lr = 1e-2});
  const auto loss_of = [this] { return Loss(); };
  double averaged_loss = 0;
  Ema ema(*model, {.decay = 0.999, .warmup = EmaWarmup::kRamp});
  for (int update = 0; update < 50; ++update) {
    optimizer.ZeroGrad();
    loss_of().backward();
    optimizer.step();
    ema.Update();
  }
  {
    const Ema::Swap swapped(ema);  // the model holds the averages
    averaged_loss = loss_of().item<double>();
  }  // the model holds its own weights again
  EXPECT_LT(averaged_loss, before);
}

TEST_F(ReadmeTest, Lora) {
  const std::string folder = testing::TempDir() + "/adapters";
  Lora lora(*model, {.targets = {"0", "1"}, .rank = 4, .also_train = {"2"}});
  AdamW optimizer(*model, {.lr = 1e-2});  // trains only the adapters
  TrainEpochs(model, optimizer, 2);
  // In Python: PeftModel.from_pretrained(model, folder).
  OrThrow(SaveAdapters(lora, folder));
  lora.Merge();  // for inference; Unmerge undoes it
  EXPECT_LT(Loss().item<double>(), before);
  EXPECT_TRUE(std::filesystem::exists(folder + "/adapter_config.json"));
}

TEST_F(ReadmeTest, ParamGroups) {
  AdamW optimizer(LayerLr(*model, {.lr = 1e-3, .decay = 0.65}),
                  {.lr = 1e-3, .weight_decay = 0.05});
  EXPECT_EQ(optimizer.num_groups(), 6);
}

}  // namespace
}  // namespace trainyard
