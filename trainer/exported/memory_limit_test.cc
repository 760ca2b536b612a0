#include "trainer/exported/memory_limit.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

TEST(MemoryLimitTest, BoundsWhatIsTakenAtOnce) {
  const MemoryLimit limit(1 << 20);
  EXPECT_THROW(at::zeros({1 << 20}), c10::ValueError);
}

TEST(MemoryLimitTest, BoundsTheSum) {
  const MemoryLimit limit(1 << 20);
  const at::Tensor first = at::ones({150'000});
  EXPECT_THROW(at::ones({150'000}), c10::ValueError);
}

TEST(MemoryLimitTest, WhatIsRefusedTakesNothing) {
  const MemoryLimit limit(1 << 20);
  EXPECT_THROW(at::zeros({1 << 20}), c10::ValueError);
  EXPECT_EQ(at::ones({150'000}).numel(), 150'000);
}

TEST(MemoryLimitTest, WhatIsFreedCountsBack) {
  const MemoryLimit limit(1 << 20);
  for (int i = 0; i < 10; ++i) at::ones({150'000});
}

TEST(MemoryLimitTest, EndsWithItsScope) {
  {
    const MemoryLimit limit(1);
  }
  EXPECT_EQ(at::ones({1000}).numel(), 1000);
}

TEST(MemoryLimitTest, MachinesHaveMemory) {
  EXPECT_GT(MachineMemory(), 100'000'000);
}

}  // namespace
}  // namespace trainyard
