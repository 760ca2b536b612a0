#include "trainer/checkpoint/state_crc32c.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <set>

namespace trainyard {
namespace {

TEST(StateCrc32cTest, EveryDifferenceChangesIt) {
  const at::Tensor numbers = at::arange(6, at::kFloat);
  const std::vector<std::vector<NamedTensor>> states = {
      {},
      {{"w", numbers}},
      {{"v", numbers}},
      {{"w", numbers.view({2, 3})}},
      {{"w", numbers.view(at::kInt)}},
      {{"w", numbers.clone().fill_(1)}},
      {{"w", numbers}, {"b", at::zeros({0})}},
      {{"b", at::zeros({0})}, {"w", numbers}},
  };
  std::set<uint32_t> sums;
  for (const auto& state : states) sums.insert(StateCrc32c(state));
  EXPECT_EQ(sums.size(), states.size());
}

TEST(StateCrc32cTest, MemoryLayoutDoesNotChangeIt) {
  const at::Tensor numbers = at::arange(6, at::kFloat).view({2, 3});
  EXPECT_EQ(StateCrc32c({{"w", numbers.t()}}),
            StateCrc32c({{"w", numbers.t().contiguous()}}));
}

TEST(StateCrc32cTest, ContinuesAnEarlierChecksum) {
  const NamedTensor a{"a", at::arange(3)}, b{"b", at::arange(4)};
  EXPECT_EQ(StateCrc32c({b}, StateCrc32c({a})), StateCrc32c({a, b}));
}

}  // namespace
}  // namespace trainyard
