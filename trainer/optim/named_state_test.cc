#include "trainer/optim/named_state.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trainer/optim/adamw.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

at::Tensor Parameter(int64_t size) { return at::ones({size}).requires_grad_(); }

TEST(NamedStateTest, HeaderExample) {
  AdamW optimizer({Parameter(2)});
  const std::vector<NamedTensor> loaded = {{"0/exp_avg", at::ones({2})},
                                           {"0/exp_avg_sq", at::ones({2})},
                                           {"0/step", at::full({}, 7.0F)}};
  const StateMismatch mismatch = CompareState(optimizer.NamedTensors(), loaded);
  if (mismatch.empty()) CopyState(optimizer.NamedTensors(), loaded);
  EXPECT_EQ(mismatch.ToString(), "");
  EXPECT_EQ(optimizer.NamedTensors()[2].tensor.item<float>(), 7);
}

TEST(NamedStateTest, SaysWhatDoesNotFit) {
  const StateMismatch mismatch = CompareState(
      {{"b", at::ones({2})}, {"a", at::ones({})}, {"c", at::ones({2, 3})}},
      {{"b", at::ones({2})}, {"z", at::ones({})}, {"c", at::ones({6})}});
  EXPECT_THAT(mismatch.missing, ElementsAre("a"));
  EXPECT_THAT(mismatch.unexpected, ElementsAre("z"));
  EXPECT_THAT(mismatch.different, ElementsAre("c: wanted [2, 3], given [6]"));
  EXPECT_EQ(
      mismatch.ToString(),
      "missing: a; unexpected: z; different: c: wanted [2, 3], given [6]");
}

TEST(NamedStateTest, CopiesByNameAndLeavesTheRest) {
  const at::Tensor a = at::zeros({2}), b = at::zeros({2}), c = at::zeros({2});
  CopyState({{"a", a}, {"b", b}, {"c", c}},
            {{"b", at::full({2}, 2.0, at::kDouble)}, {"c", at::ones({3})}});
  EXPECT_TRUE(at::equal(a, at::zeros({2})));
  EXPECT_TRUE(at::equal(b, at::full({2}, 2.0F)));
  EXPECT_TRUE(at::equal(c, at::zeros({2})));
}

TEST(NamedStateTest, AnOptimizerRefusesAForeignStateUntouched) {
  AdamW optimizer({Parameter(2)});
  const std::vector<NamedTensor> loaded = {{"0/exp_avg", at::ones({2})},
                                           {"1/exp_avg", at::ones({2})}};
  try {
    optimizer.LoadTensors(loaded);
    FAIL() << "loaded";
  } catch (const c10::ValueError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("AdamW: the state does not fit: missing: "
                          "0/exp_avg_sq, 0/step; unexpected: 1/exp_avg"));
  }
  EXPECT_TRUE(at::equal(optimizer.NamedTensors()[0].tensor, at::zeros({2})));
}

TEST(NamedStateTest, AnOptimizerTakesWhatFitsIfAsked) {
  AdamW optimizer({Parameter(2)});
  const StateMismatch mismatch = optimizer.LoadTensors(
      {{"0/exp_avg", at::ones({2})}, {"0/step", at::ones({1, 1})}},
      /*strict=*/false);
  EXPECT_THAT(mismatch.missing, ElementsAre("0/exp_avg_sq"));
  EXPECT_THAT(mismatch.different,
              ElementsAre("0/step: wanted [], given [1, 1]"));
  EXPECT_TRUE(at::equal(optimizer.NamedTensors()[0].tensor, at::ones({2})));
}

}  // namespace
}  // namespace trainyard
