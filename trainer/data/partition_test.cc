#include "trainer/data/partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace trainyard {
namespace {

using Rows = Partition::Rows;
using Positions = std::vector<int64_t>;

TEST(PartitionTest, HeaderExample) {
  const Partition partition(
      {.samples = 10, .batch_size = 2, .rank = 1, .num_ranks = 2});
  EXPECT_EQ(partition.At(0, 1), (Rows{6, 2, 0}));
}

struct Case {
  LastBatch policy;
  int64_t batches;
  Rows rank0, rank1, rank2;
};

TEST(PartitionTest, LastBatchFollowsThePolicy) {
  // 14 samples in global batches of 6: two are left for three ranks.
  for (const Case& c : {
           Case{LastBatch::kUneven, 3, {12, 1, 0}, {13, 1, 0}, {14, 0, 1}},
           Case{LastBatch::kPad, 3, {12, 2, 0}, {14, 0, 2}, {16, 0, 2}},
           Case{LastBatch::kDrop, 2, {6, 2, 0}, {8, 2, 0}, {10, 2, 0}},
       }) {
    const std::vector<Rows> want = {c.rank0, c.rank1, c.rank2};
    for (int64_t rank = 0; rank < 3; ++rank) {
      const Partition partition({.samples = 14,
                                 .batch_size = 2,
                                 .rank = rank,
                                 .num_ranks = 3,
                                 .last_batch = c.policy});
      EXPECT_EQ(partition.Batches(), c.batches);
      EXPECT_EQ(partition.At(0, c.batches - 1), want[static_cast<size_t>(rank)])
          << "policy " << static_cast<int>(c.policy) << ", rank " << rank;
    }
  }
}

// Counted positions of all ranks, batch by batch, from `first` on, `batches`
// batches at most; moves `first` to where the epoch then stands.
Positions Take(PartitionOptions options, int64_t& first,
               int64_t batches = 1 << 20) {
  Positions taken;
  batches = std::min(batches, Partition(options).Batches(first));
  for (int64_t batch = 0; batch < batches; ++batch) {
    for (options.rank = 0; options.rank < options.num_ranks; ++options.rank) {
      const Rows rows = Partition(options).At(first, batch);
      EXPECT_GE(rows.size + rows.padding, 1);
      EXPECT_LE(rows.size + rows.padding, options.batch_size);
      for (int64_t i = 0; i < rows.size; ++i) taken.push_back(rows.begin + i);
    }
  }
  options.rank = 0;
  first = Partition(options).Position(first, batches);
  return taken;
}

Positions UpTo(int64_t end) {
  Positions all(static_cast<size_t>(end));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

TEST(PartitionTest, EachSampleOnceInOrderForAnyRanksBatchAndPolicy) {
  for (int64_t samples = 1; samples <= 40; ++samples) {
    for (int64_t ranks = 1; ranks <= 5; ++ranks) {
      for (int64_t batch = 1; batch <= 7; ++batch) {
        for (const LastBatch policy :
             {LastBatch::kUneven, LastBatch::kPad, LastBatch::kDrop}) {
          int64_t first = 0;
          const Positions taken = Take({.samples = samples,
                                        .batch_size = batch,
                                        .num_ranks = ranks,
                                        .last_batch = policy},
                                       first);
          const int64_t whole = samples / (batch * ranks) * (batch * ranks);
          const int64_t want = policy == LastBatch::kDrop ? whole : samples;
          ASSERT_EQ(taken, UpTo(want))
              << samples << " samples, " << ranks << " ranks, batch " << batch;
          ASSERT_EQ(first, want);
        }
      }
    }
  }
}

TEST(PartitionTest, ResumesWithAnotherNumberOfRanks) {
  for (int64_t samples = 1; samples <= 40; ++samples) {
    for (int64_t stop = 0; stop <= 8; ++stop) {
      for (const LastBatch policy : {LastBatch::kUneven, LastBatch::kPad}) {
        PartitionOptions options{
            .samples = samples, .batch_size = 3, .last_batch = policy};
        int64_t first = 0;
        Positions taken;
        for (const auto& [ranks, batches] :
             {std::pair<int64_t, int64_t>(1, stop), {2, 2}, {1, 1 << 20}}) {
          options.num_ranks = ranks;
          const Positions more = Take(options, first, batches);
          taken.insert(taken.end(), more.begin(), more.end());
        }
        ASSERT_EQ(taken, UpTo(samples)) << samples << " samples, " << stop;
      }
    }
  }
}

TEST(PartitionTest, GlobalBatchesDoNotDependOnTheNumberOfRanks) {
  // 12 samples a step, as 1 x 12, 2 x 6, 3 x 4 or 4 x 3.
  for (const int64_t ranks : {1, 2, 3, 4}) {
    int64_t first = 0;
    for (int64_t step = 0; step < 4; ++step) {
      Positions taken =
          Take({.samples = 41, .batch_size = 12 / ranks, .num_ranks = ranks},
               first, 1);
      Positions want = UpTo(std::min<int64_t>(41, 12 * (step + 1)));
      want.erase(want.begin(), want.begin() + 12 * step);
      EXPECT_EQ(taken, want) << ranks << " ranks, step " << step;
    }
  }
}

TEST(PartitionTest, RejectsBadOptions) {
  for (const PartitionOptions& options : {
           PartitionOptions{.samples = 0},
           PartitionOptions{.samples = 1, .batch_size = 0},
           PartitionOptions{.samples = 1, .rank = 1},
           PartitionOptions{.samples = 1, .rank = -1},
           PartitionOptions{.samples = 1, .num_ranks = 0},
           PartitionOptions{
               .samples = 1, .batch_size = int64_t{1} << 61, .num_ranks = 2},
       }) {
    EXPECT_THROW(Partition{options}, std::invalid_argument);
  }
}

}  // namespace
}  // namespace trainyard
