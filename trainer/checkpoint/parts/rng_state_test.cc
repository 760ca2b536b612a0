#include "trainer/checkpoint/parts/rng_state.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include "tools/launch/testing/test_rank.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/state_tensor.h"

namespace trainyard {
namespace {

at::Device Device() { return at::Device(TestDevice()); }

TEST(RngStateTest, RestoresTheNextNumbers) {
  // The generator keeps the second of a pair of normal numbers.
  at::randn({3}, Device());
  const State state = SaveRngState();
  const at::Tensor first = at::randn({5}, Device());
  const at::Tensor second = at::rand({100}, Device());
  LoadRngState(state);
  EXPECT_TRUE(at::equal(at::randn({5}, Device()), first));
  EXPECT_TRUE(at::equal(at::rand({100}, Device()), second));
}

// Dropout draws on the device, a sampler on the CPU.
TEST(RngStateTest, RestoresBothGenerators) {
  const State state = SaveRngState();
  const at::Tensor here = at::rand({5});
  const at::Tensor there = at::rand({5}, Device());
  LoadRngState(state);
  EXPECT_TRUE(at::equal(at::rand({5}), here));
  EXPECT_TRUE(at::equal(at::rand({5}, Device()), there));
}

TEST(RngStateTest, HeaderExample) {
  Checkpoint checkpoint;
  checkpoint.parts["rng"] = SaveRngState();
  const at::Tensor drawn = at::rand({4}, Device());
  LoadRngState(checkpoint.parts.at("rng"));
  EXPECT_TRUE(at::equal(at::rand({4}, Device()), drawn));
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
