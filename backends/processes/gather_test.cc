// Gather and rank_order over several ranks.
#include "backends/processes/gather.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>

#include "backends/processes/group_collectives.h"
#include "backends/processes/rank_order.h"
#include "backends/testing/rank_group.h"

namespace trainyard {
namespace {

// Rank r has r + 1 rows (r, r), (r, r + 1), …
at::Tensor Rows(int64_t rank) {
  at::Tensor rows = at::full({rank + 1, 2}, rank, at::kLong);
  rows.select(1, 1) += at::arange(rank + 1);
  return rows;
}

at::Tensor AllRows(int64_t ranks) {
  std::vector<at::Tensor> all;
  for (int64_t rank = 0; rank < ranks; ++rank) all.push_back(Rows(rank));
  return at::cat(all);
}

TEST(GatherTest, OneProcessGathersItsOwn) {
  const auto alone = MakeLocalCollectives();
  EXPECT_TRUE(at::equal(Gather(*alone, Rows(2)), Rows(2)));
  EXPECT_TRUE(at::equal(GatherToCpu(*alone, Rows(2), 2), Rows(2)));
  EXPECT_EQ(Gather(*alone, at::full({}, 7)).sizes(), at::IntArrayRef({1}));
  EXPECT_THROW(GatherToCpu(*alone, Rows(2), -1), c10::ValueError);
}

TEST(GatherTest, RanksMayHaveUnequalRows) {
  const auto all = MakeGroupCollectives(*RankGroup());
  const at::Tensor expected = AllRows(all->num_processes());
  EXPECT_TRUE(at::equal(Gather(*all, Rows(all->rank())), expected));
  EXPECT_TRUE(at::equal(GatherToCpu(*all, Rows(all->rank())), expected));
  for (const int64_t rows_at_once : {1, 2, 3, 100}) {
    EXPECT_TRUE(
        at::equal(GatherToCpu(*all, Rows(all->rank()), rows_at_once), expected))
        << rows_at_once;
  }
  EXPECT_EQ(GatherToCpu(*all, at::zeros({0, 3}), 2).sizes(),
            at::IntArrayRef({0, 3}));
}

TEST(GatherTest, DropsRowsOfThePaddingValue) {
  const auto all = MakeGroupCollectives(*RankGroup());
  // A row that contains the value but does not consist of it stays.
  const int64_t rows = all->num_processes() + 1;
  at::Tensor padded = at::full({rows, 2}, -1, at::kLong);
  padded.narrow(0, 0, all->rank() + 1).copy_(Rows(all->rank()));
  padded[0][0] = -1;
  at::Tensor expected = AllRows(all->num_processes());
  for (int64_t rank = 0; rank < all->num_processes(); ++rank) {
    expected[rank * (rank + 1) / 2][0] = -1;  // the rank's first row
  }
  EXPECT_TRUE(at::equal(Gather(*all, padded, {.padding_value = -1}), expected));
  EXPECT_EQ(Gather(*all, padded).size(0), rows * all->num_processes());
}

TEST(GatherTest, GathersNestedBatches) {
  const auto all = MakeGroupCollectives(*RankGroup());
  const at::Tensor mine = Rows(all->rank());
  const at::Tensor expected = AllRows(all->num_processes());
  using Nested =
      std::tuple<std::map<std::string, std::vector<at::Tensor>>, Example>;
  const Nested nested = {{{"a", {mine, mine.add(1)}}, {"b", {}}},
                         {.input = mine, .target = mine.mul(2)}};
  const auto [map, example] = Gather(*all, nested);
  EXPECT_TRUE(at::equal(map.at("a").at(1), expected.add(1)));
  EXPECT_TRUE(map.at("b").empty());
  EXPECT_TRUE(at::equal(example.target, expected.mul(2)));
}

TEST(RankOrderTest, MainRankRunsFirst) {
  const auto all = MakeGroupCollectives(*RankGroup());
  const std::string file = ::testing::TempDir() + "/first-" +
                           std::to_string(RankGroup()->rendezvous().port);
  bool there_before = false;
  for (const auto& first : {MainRankFirst, LocalMainRankFirst}) {
    first(*all, [&] {
      std::FILE* const read = std::fopen(file.c_str(), "r");
      there_before = read != nullptr;
      if (read != nullptr) std::fclose(read);
      if (all->rank() == 0) std::fclose(std::fopen(file.c_str(), "w"));
    });
    EXPECT_EQ(there_before, all->rank() != 0);
    all->Barrier();
    if (all->rank() == 0) std::remove(file.c_str());
    all->Barrier();
  }
  EXPECT_THROW(MainRankFirst(*all,
                             [&] {
                               if (all->rank() == 0)
                                 throw std::runtime_error("no disk");
                               ADD_FAILURE() << "another rank ran";
                             }),
               std::exception);
}

TEST(RankOrderTest, PrintsOncePerNode) {
  const auto all = MakeGroupCollectives(*RankGroup());
  std::ostringstream text;
  PrintOncePerNode(*all, text, "hello");
  EXPECT_EQ(text.str(), all->local_rank() == 0 ? "hello" : "");
}

}  // namespace
}  // namespace trainyard
