#include "trainer/model/ready_gradients.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scalar_tensor.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tools/testing/error_of.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

class ReadyGradientsTest : public ::testing::Test {
 protected:
  at::Tensor Loss() const {
    at::Tensor loss = at::scalar_tensor(7.0F);
    ready_.Attach(loss, {at::full({2}, 3.0F), at::full({3}, 5.0F)});
    return loss;
  }
  static at::Tensor Leaf(int64_t size) {
    return at::ones({size}).requires_grad_();
  }
  static void ExpectGradient(const at::Tensor& parameter, float value) {
    ASSERT_TRUE(parameter.grad().defined());
    EXPECT_TRUE(at::equal(parameter.grad(), at::full(parameter.sizes(), value)))
        << parameter.grad();
  }

  const std::vector<at::Tensor> parameters_ = {Leaf(2), Leaf(3)};
  const ReadyGradients ready_{parameters_};
};

// The header's example.
TEST_F(ReadyGradientsTest, BackwardHandsThemOut) {
  const std::vector<at::Tensor>& parameters = parameters_;
  const at::Tensor loss = at::scalar_tensor(7.0F);
  const std::vector<at::Tensor> gradients = {at::full({2}, 3.0F),
                                             at::full({3}, 5.0F)};
  const ReadyGradients ready(parameters);
  ready.Attach(loss, gradients);
  loss.backward();
  ExpectGradient(parameters_[0], 3);
  ExpectGradient(parameters_[1], 5);
  Loss().mul(2).backward();
  ExpectGradient(parameters_[0], 9);
  EXPECT_THAT(ErrorOf<c10::Error>([&] { loss.backward(); }),
              HasSubstr("twice"));
}

TEST_F(ReadyGradientsTest, AddDoesWhatBackwardDoes) {
  EXPECT_TRUE(ReadyGradients::Add(Loss(), 0.5));
  ExpectGradient(parameters_[0], 1.5);
  const at::Tensor loss = Loss();
  EXPECT_TRUE(ReadyGradients::Add(loss, 1));
  ExpectGradient(parameters_[0], 4.5);
  EXPECT_TRUE(ReadyGradients::Add(Loss(), 2));
  ExpectGradient(parameters_[1], 17.5);
  EXPECT_THAT(ErrorOf<c10::Error>([&] { ReadyGradients::Add(loss, 1); }),
              HasSubstr("twice"));
}

TEST_F(ReadyGradientsTest, OtherLossesNeedTheEngine) {
  EXPECT_FALSE(ReadyGradients::Add(parameters_[0].sum(), 1));
  EXPECT_FALSE(ReadyGradients::Add(Loss().mul(2), 1));
  EXPECT_FALSE(parameters_[0].grad().defined());
}

TEST_F(ReadyGradientsTest, HooksNeedTheEngine) {
  int calls = 0;
  const unsigned hook =
      parameters_[1].register_hook([&](const at::Tensor&) { ++calls; });
  const at::Tensor loss = Loss();
  EXPECT_FALSE(ReadyGradients::Add(loss, 1));
  loss.backward();
  EXPECT_EQ(calls, 1);
  parameters_[1].remove_hook(hook);

  const at::Tensor watched = Loss();
  watched.register_hook([&](const at::Tensor&) { ++calls; });
  EXPECT_FALSE(ReadyGradients::Add(watched, 1));
}

TEST_F(ReadyGradientsTest, FrozenParametersGetNone) {
  parameters_[0].set_requires_grad(false);
  EXPECT_FALSE(ready_.IsUpToDate());
  const ReadyGradients ready(parameters_);
  EXPECT_TRUE(ready.IsUpToDate());
  for (const bool engine : {true, false}) {
    const at::Tensor loss = at::scalar_tensor(7.0F);
    ready.Attach(loss, {at::full({2}, 3.0F), at::full({3}, 5.0F)});
    if (engine) {
      loss.backward();
    } else {
      EXPECT_TRUE(ReadyGradients::Add(loss, 1));
    }
    EXPECT_FALSE(parameters_[0].grad().defined());
    ExpectGradient(parameters_[1], engine ? 5 : 10);
  }
}

TEST_F(ReadyGradientsTest, OneForEachParameter) {
  EXPECT_THROW(ready_.Attach(at::scalar_tensor(7.0F), {at::ones({2})}),
               c10::ValueError);
}

}  // namespace
}  // namespace trainyard
