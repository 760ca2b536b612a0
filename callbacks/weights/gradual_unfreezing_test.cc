#include "callbacks/weights/gradual_unfreezing.h"

#include <ATen/Context.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trainer/optim/adamw.h"
#include "trainer/testing/clock_at.h"
#include "trainer/testing/modules.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

TestSequential Model() {
  at::manual_seed(3);
  return TestSequential{TestLinear(3, 4), TestBatchNorm1d(4), TestLinear(4, 4),
                        TestLinear(4, 1)};
}

const std::vector<UnfreezeStep> kSteps = {
    {.after_epochs = 2, .pattern = "0", .overrides = {{"lr", 1e-3}}},
    {.after_epochs = 1, .from = -2, .to = -2, .overrides = {{"lr", 5e-3}}}};

TEST(GradualUnfreezingTest, OptimizerWithAllParametersKeepsItsGroups) {
  TestSequential model = Model();
  AdamW optimizer(*model);  // before anything is frozen
  ModelFreezer freezer(*model);
  freezer.FreezeGroups();
  GradualUnfreezing callback(freezer, optimizer, kSteps);
  Control control;
  callback.OnEpochStart({RunConfig{}, ClockAt({.epoch = 5}), 1}, control);
  EXPECT_EQ(optimizer.num_groups(), 1);
  EXPECT_TRUE(model->named_parameters()["0.weight"].requires_grad());
}

TEST(GradualUnfreezingTest, InvalidStepsAreErrors) {
  TestSequential model = Model();
  AdamW optimizer(*model);
  ModelFreezer freezer(*model);
  const auto message = [&](const UnfreezeStep& step) -> std::string {
    try {
      GradualUnfreezing(freezer, optimizer, {step});
    } catch (const c10::Error& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  EXPECT_THAT(message({.from = 0, .to = 9}), HasSubstr("there is no group 9"));
  EXPECT_THAT(message({.pattern = "haed"}), HasSubstr("\"haed\" matches no"));
  EXPECT_THAT(message({.after_epochs = -1}), HasSubstr("after_epochs is -1"));
}

}  // namespace
}  // namespace trainyard
