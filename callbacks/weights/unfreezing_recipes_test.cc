#include "callbacks/weights/unfreezing_recipes.h"

#include <gtest/gtest.h>

#include "trainer/optim/adamw.h"
#include "trainer/testing/clock_at.h"
#include "trainer/testing/modules.h"

namespace trainyard {
namespace {

class UnfreezingRecipesTest : public testing::Test {
 protected:
  UnfreezingRecipesTest() { freezer_.FreezeGroups(); }

  // The learning rates of the optimizer's groups after each epoch's start.
  std::vector<std::vector<double>> Rates(const std::vector<UnfreezeStep>& steps,
                                         int64_t epochs) {
    AdamW optimizer(*model_, {.lr = 1});
    GradualUnfreezing callback(freezer_, optimizer, steps);
    std::vector<std::vector<double>> rates;
    Control control;
    for (int64_t epoch = 0; epoch < epochs; ++epoch) {
      callback.OnEpochStart({RunConfig{}, ClockAt({.epoch = epoch}), 1},
                            control);
      rates.emplace_back();
      for (size_t group = 0; group < optimizer.num_groups(); ++group) {
        rates.back().push_back(optimizer.Field(group, "lr"));
      }
    }
    return rates;
  }

  TestSequential model_{TestLinear(2, 2), TestLinear(2, 2), TestReLU(),
                        TestLinear(2, 2)};
  ModelFreezer freezer_{*model_};
};

TEST_F(UnfreezingRecipesTest, OneGroupAtATime) {
  const auto steps =
      OneGroupAtATime(freezer_, {.epochs_each = 2, .lr = 1, .lr_decay = 0.5});
  const std::vector<double> head = {1}, two = {1, 0.5}, all = {1, 0.5, 0.25};
  EXPECT_EQ(Rates(steps, 5), (std::vector{head, head, two, two, all}));
}

TEST_F(UnfreezingRecipesTest, ProbingThenAll) {
  const auto steps = AllAfterProbing({.probe_epochs = 2, .lr = 0.125});
  const std::vector<double> head = {1}, all = {1, 0.125};
  EXPECT_EQ(Rates(steps, 3), (std::vector{head, head, all}));
  EXPECT_EQ(freezer_.TrainableParameters().size(), 6);
}

TEST_F(UnfreezingRecipesTest, RefusesBadOptions) {
  EXPECT_THROW(OneGroupAtATime(freezer_, {.epochs_each = 0}), c10::ValueError);
  EXPECT_THROW(OneGroupAtATime(freezer_, {.lr = 0}), c10::ValueError);
  EXPECT_THROW(OneGroupAtATime(freezer_, {.lr_decay = 2}), c10::ValueError);
  EXPECT_THROW(AllAfterProbing({.probe_epochs = 0}), c10::ValueError);
  EXPECT_THROW(AllAfterProbing({.lr = -1}), c10::ValueError);
}

}  // namespace
}  // namespace trainyard
