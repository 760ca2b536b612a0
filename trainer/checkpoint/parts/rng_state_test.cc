#include "trainer/checkpoint/parts/rng_state.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include "trainer/state_tensor.h"

namespace trainyard {
namespace {

TEST(RngStateTest, WhatIsDrawnNextIsTheSame) {
  at::randn({3});  // half of a pair of normal numbers is kept back
  const State state = SaveRngState();
  const at::Tensor first = at::randn({5});
  const at::Tensor second = at::rand({100});
  LoadRngState(state);
  EXPECT_TRUE(at::equal(at::randn({5}), first));
  EXPECT_TRUE(at::equal(at::rand({100}), second));
}

TEST(RngStateTest, AGeneratorOfOnesOwn) {
  at::Generator generator = at::detail::createCPUGenerator(7);
  const State state = SaveGenerator(generator);
  const at::Tensor drawn = at::rand({4}, generator);
  LoadGenerator(state, generator);
  EXPECT_TRUE(at::equal(at::rand({4}, generator), drawn));
}

TEST(RngStateTest, WhatIsNoStateIsRefusedAndChangesNothing) {
  State wrong;
  SetTensor(wrong, "cpu", at::rand({3}));
  const State drawn = SaveRngState();
  EXPECT_THROW(LoadRngState(wrong), c10::Error);
  EXPECT_THROW(LoadRngState(State()), std::invalid_argument);
  EXPECT_THROW(LoadRngState(State(9)), std::invalid_argument);
  EXPECT_TRUE(
      at::equal(GetTensor(SaveRngState(), "cpu"), GetTensor(drawn, "cpu")));
}

}  // namespace
}  // namespace trainyard
