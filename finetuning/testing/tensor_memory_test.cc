#include "finetuning/testing/tensor_memory.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

TEST(TensorMemoryTest, HeaderExample) {
  const auto TrainStep = [] { at::empty({256}); };
  TensorMemory memory;
  TrainStep();
  const int64_t bytes = memory.peak();
  EXPECT_EQ(bytes, 1024);
}

TEST(TensorMemoryTest, CountsCurrentAndPeakBytes) {
  const at::Tensor before = at::empty({1000});
  TensorMemory memory;
  EXPECT_EQ(memory.current(), 0);
  at::Tensor kept = at::empty({256});
  {
    const at::Tensor temporary = at::empty({512});
  }
  EXPECT_EQ(memory.current(), 1024);
  EXPECT_EQ(memory.peak(), 3072);
  memory.ResetPeak();
  EXPECT_EQ(memory.peak(), 1024);
  kept.reset();
  EXPECT_EQ(memory.current(), 0);
}

TEST(TensorMemoryTest, CountsBackwardPasses) {
  const at::Tensor leaf = at::ones({256}).requires_grad_();
  const TensorMemory memory;
  leaf.mul(2).sum().backward();
  EXPECT_EQ(memory.current(), 1024);  // the gradient
}

}  // namespace
}  // namespace trainyard
