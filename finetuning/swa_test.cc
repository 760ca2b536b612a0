#include "finetuning/swa.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/launch/testing/test_rank.h"
#include "trainer/testing/modules.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

at::Device Device() { return at::Device(TestDevice()); }

TEST(SwaTest, HeaderExample) {
  TestSequential model{TestBatchNorm1d(2), TestLinear(2, 1)};
  model->to(Device());
  const std::vector<at::Tensor> inputs = {at::full({4, 2}, 3.0F, Device()),
                                          at::full({4, 2}, 5.0F, Device())};
  const int epochs = 8;
  const auto TrainEpoch = [&] {
    const at::NoGradGuard no_gradients;
    model["1.weight"].add_(1);
  };
  model["1.weight"].detach().zero_();
  Swa swa(*model);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    TrainEpoch();
    if (epoch >= epochs * 3 / 4) swa.Update();
  }
  const Swa::Swap swapped(swa);
  UpdateBatchNorms(*model, [&] {
    for (const at::Tensor& input : inputs) model->forward(input);
  });
  EXPECT_TRUE(at::equal(model["1.weight"], at::full({1, 2}, 7.5F, Device())));
  EXPECT_TRUE(
      at::equal(model["0.running_mean"], at::full({2}, 4.0F, Device())));
}

TEST(SwaTest, IsTheMeanOfTheUpdates) {
  TestLinear model(1, 1);
  model->to(Device());
  Swa swa(*model);
  for (const double value : {4, 8, 9}) {
    const at::NoGradGuard no_gradients;
    model["weight"].fill_(value);
    swa.Update();
  }
  const Swa::Swap swapped(swa);
  EXPECT_TRUE(at::equal(model["weight"], at::full({1, 1}, 7.0F, Device())));
}

TEST(SwaTest, ResumesFromItsState) {
  TestLinear model(1, 1);
  model->to(Device());
  Swa first(*model), second(*model);
  const at::NoGradGuard no_gradients;
  model["weight"].fill_(4);
  first.Update();
  second.LoadState(first.SaveState());
  model["weight"].fill_(8);
  second.Update();
  EXPECT_EQ(second.updates(), 2);
  const Swa::Swap swapped(second);
  EXPECT_EQ(model["weight"].item<float>(), 6);
}

TEST(UpdateBatchNormsTest, SetsStatisticsAndRestoresModesAndMomenta) {
  TestBatchNorm1d norm(2), frozen(2);
  TestDropout dropout(0.5);
  TestSequential model{dropout, norm, frozen};
  model->to(Device());
  frozen->eval();
  frozen["running_mean"].fill_(100);
  UpdateBatchNorms(*model, [&] {
    EXPECT_FALSE(dropout->is_training());
    model->forward(at::full({4, 2}, 3.0F, Device()));
    model->forward(at::full({4, 2}, 5.0F, Device()));
  });
  EXPECT_TRUE(at::equal(norm["running_mean"], at::full({2}, 4.0F, Device())));
  EXPECT_TRUE(norm->is_training());
  EXPECT_TRUE(dropout->is_training());
  EXPECT_FALSE(frozen->is_training());
  EXPECT_EQ(frozen["running_mean"][0].item<float>(), 0);  // measured, too
  norm->forward(at::full({4, 2}, 14.0F, Device()));
  EXPECT_FLOAT_EQ(norm["running_mean"][0].item<float>(), 0.9F * 4 + 0.1F * 14);
}

TEST(UpdateBatchNormsTest, RejectsModelsWithoutStatisticsOrBatches) {
  const auto message = [](torch::nn::Module& model) -> std::string {
    try {
      UpdateBatchNorms(model, [] {});
    } catch (const c10::ValueError& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  EXPECT_THAT(message(*TestLinear(1, 1)),
              HasSubstr("the model has no batch norm"));
  EXPECT_THAT(message(*TestBatchNorm1d(2)), HasSubstr("no batch went through"));
}

}  // namespace
}  // namespace trainyard
