// Outputs of several ranks, in the order of the data.
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "backends/output_collector.h"
#include "backends/processes/group_collectives.h"
#include "backends/testing/rank_group.h"
#include "tools/launch/testing/test_rank.h"

namespace trainyard {
namespace {

// Records 0, 1, 2, … in steps of 5, of which rank 0 has the first 3 and rank 1
// the others; the last step may have none for rank 1, or be missing there.
OutputCollector Share(int64_t records) {
  OutputCollector outputs;
  for (int64_t begin = 0; begin < records; begin += 5) {
    const int64_t end = std::min(begin + 5, records);
    const int64_t middle = std::min(begin + 3, end);
    const at::Tensor mine =
        TestRank() == 0 ? at::arange(begin, middle) : at::arange(middle, end);
    if (mine.numel() == 0) continue;
    outputs.Collect({mine, mine.to(at::kFloat).unsqueeze(1).repeat({1, 2})});
  }
  return outputs;
}

TEST(OutputCollectorDdpTest, RowsAreInTheOrderOfTheData) {
  const auto collectives = MakeGroupCollectives(*RankGroup());
  for (const int64_t records : {1, 3, 4, 10, 12, 23}) {
    const std::vector<at::Tensor> all = Share(records).AllOf(*collectives);
    const at::Tensor expected = at::arange(records);
    ASSERT_EQ(all.size(), 2);
    EXPECT_TRUE(at::equal(all[0], expected)) << records;
    EXPECT_TRUE(
        at::equal(all[1], expected.to(at::kFloat).unsqueeze(1).repeat({1, 2})))
        << records;
  }
  EXPECT_TRUE(OutputCollector().AllOf(*collectives).empty());
}

TEST(OutputCollectorDdpTest, RejectsOutputsThatDiffer) {
  const auto collectives = MakeGroupCollectives(*RankGroup());
  OutputCollector outputs;
  outputs.Collect(at::ones({2, TestRank() + 1}));
  EXPECT_THROW(outputs.AllOf(*collectives), c10::ValueError);
  EXPECT_TRUE(collectives->Any(true));  // all ranks can continue
}

}  // namespace
}  // namespace trainyard
