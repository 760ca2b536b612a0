#include "tools/bench/counting_allocator.h"

#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

TEST(CountingAllocatorTest, HeaderExample) {
  CountingAllocator& memory = CountingAllocator::Get();
  const at::Tensor tensor = at::ones({256});
  EXPECT_EQ(memory.current(), 1024);
}

TEST(CountingAllocatorTest, PeakIsTheLargestSumSinceTheReset) {
  CountingAllocator& memory = CountingAllocator::Get();
  {
    const at::Tensor large = at::ones({1000});
  }
  EXPECT_EQ(memory.current(), 0);
  EXPECT_GE(memory.peak(), 4000);
  memory.ResetPeak();
  EXPECT_EQ(memory.peak(), 0);
  const at::Tensor tensor = at::ones({256});
  {
    const at::Tensor other = at::ones({256});
  }
  EXPECT_EQ(memory.peak(), 2048);
  EXPECT_EQ(memory.current(), 1024);
}

}  // namespace
}  // namespace trainyard
