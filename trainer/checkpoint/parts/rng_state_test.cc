#include "trainer/checkpoint/parts/rng_state.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/state_tensor.h"

namespace trainyard {
namespace {

TEST(RngStateTest, RestoresTheNextNumbers) {
  at::randn({3});  // the generator keeps the second of a pair of normal numbers
  const State state = SaveRngState();
  const at::Tensor first = at::randn({5});
  const at::Tensor second = at::rand({100});
  LoadRngState(state);
  EXPECT_TRUE(at::equal(at::randn({5}), first));
  EXPECT_TRUE(at::equal(at::rand({100}), second));
}

TEST(RngStateTest, HeaderExample) {
  Checkpoint checkpoint;
  checkpoint.parts["rng"] = SaveRngState();
  const at::Tensor drawn = at::rand({4});
  LoadRngState(checkpoint.parts.at("rng"));
  EXPECT_TRUE(at::equal(at::rand({4}), drawn));
}

TEST(RngStateTest, RejectsAMalformedStateAndChangesNothing) {
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
