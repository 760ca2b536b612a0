#include "finetuning/average_host.h"

#include <ATen/Parallel.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

TEST(AverageHostTest, EqualsLerp) {
  if (!CanMoveOnHost(at::randn({1}), at::randn({1}))) GTEST_SKIP();
  for (const int threads : {1, 2}) {
    at::set_num_threads(threads);
    for (const int64_t size : {0, 1, 15, 31, 32, 33, 64, 100, 300'001}) {
      for (const double weight : {0.0, 0.001, 0.3, 0.5, 0.9, 1.0}) {
        const at::Tensor model = at::randn({size}), average = at::randn({size});
        const at::Tensor expected = average.lerp(model, weight);
        if (CanMoveOnHost(average, model)) MoveOnHost(average, model, weight);
        // Both round values of up to 5, with an error of up to 2.4e-7 each.
        EXPECT_TRUE(at::allclose(average, expected, /*rtol=*/0, 5e-7))
            << size << " by " << weight;
        if (weight == 1) {
          EXPECT_TRUE(at::equal(average, model));
        }
      }
    }
  }
}

TEST(AverageHostTest, RequiresDenseFloatsWithEqualStrides) {
  const at::Tensor rows = at::randn({4, 6}), columns = at::randn({6, 4}).t();
  EXPECT_EQ(CanMoveOnHost(rows, rows), CanMoveOnHost(columns, columns));
  EXPECT_FALSE(CanMoveOnHost(rows, columns));
  EXPECT_FALSE(CanMoveOnHost(rows.to(at::kDouble), rows.to(at::kDouble)));
  EXPECT_FALSE(CanMoveOnHost(rows.to(at::kDouble), rows));
  const at::Tensor gaps = rows.slice(1, 0, 2);
  EXPECT_FALSE(CanMoveOnHost(gaps, gaps));
}

TEST(AverageHostTest, IncrementsTheVersionForAutograd) {
  const at::Tensor average = at::randn({4}), model = at::randn({4});
  if (!CanMoveOnHost(average, model)) GTEST_SKIP();
  const auto before = average._version();
  MoveOnHost(average, model, 0.5);
  EXPECT_GT(average._version(), before);
}

}  // namespace
}  // namespace trainyard
