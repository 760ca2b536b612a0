#include "trainer/loop/micro_batch.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace trainyard {
namespace {

TEST(SplitBatchTest, HeaderExample) {
  const MicroBatch split = SplitBatch(/*batch_size=*/96, /*limit=*/40);
  EXPECT_EQ(split.size, 32);
  EXPECT_EQ(split.grad_accum_steps, 3);
}

TEST(SplitBatchTest, IsTheLargestDivisorWithinTheLimit) {
  for (int64_t batch = 1; batch <= 200; ++batch) {
    for (int64_t limit = 1; limit <= 210; ++limit) {
      const MicroBatch split = SplitBatch(batch, limit);
      ASSERT_EQ(split.size * split.grad_accum_steps, batch);
      ASSERT_LE(split.size, limit);
      for (int64_t larger = split.size + 1; larger <= limit; ++larger) {
        ASSERT_NE(batch % larger, 0) << batch << " " << limit;
      }
    }
  }
}

TEST(SplitBatchTest, RefusesNothing) {
  EXPECT_THROW(SplitBatch(0, 1), std::invalid_argument);
  EXPECT_THROW(SplitBatch(1, 0), std::invalid_argument);
}

}  // namespace
}  // namespace trainyard
