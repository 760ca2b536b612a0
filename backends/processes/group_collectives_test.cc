#include "backends/processes/group_collectives.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <future>
#include <string>
#include <thread>

#include "backends/gather_text.h"
#include "backends/testing/rank_group.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Rank {
 public:
  Collectives& all() { return *collectives_; }
  int64_t rank() { return collectives_->rank(); }

 private:
  const std::unique_ptr<Collectives> collectives_ =
      MakeGroupCollectives(*RankGroup());
};

// The last rank begins the sum only when the texts are gathered; the others may
// wait for the sum while their second thread gathers.
TEST(GroupCollectivesTest, AnotherThreadHasCallsOfItsOwn) {
  Rank rank;
  const int64_t ranks = rank.all().num_processes();
  const auto other = rank.all().ForAnotherThread();
  std::promise<void> gathered;
  std::thread thread([&] {
    const std::vector<std::string> texts =
        GatherText(*other, std::string(rank.rank() * 3, 'x'));
    EXPECT_EQ(texts.size(), ranks);
    EXPECT_EQ(texts[0], "");
    EXPECT_EQ(texts[1], "xxx");
    gathered.set_value();
  });
  if (rank.rank() + 1 == ranks) gathered.get_future().wait();
  at::Tensor one = at::ones({2});
  rank.all().AllReduce(one, ReduceOp::kSum);
  EXPECT_TRUE(at::equal(one, at::full({2}, static_cast<double>(ranks))));
  thread.join();
}

// Without anybody asking for it.
TEST(GroupCollectivesTest, RanksOfOneMachineShareMemory) {
  const char* const variable = std::getenv("TRAINYARD_SHARED_MEMORY");
  const bool switched_off = variable != nullptr;  // by the test's rule
  EXPECT_EQ(RankGroup()->shared_ranks() == nullptr, switched_off);
}

TEST(GroupCollectivesTest, ReducesEveryTypeAndLayout) {
  Rank rank;
  const int64_t n = rank.all().num_processes();
  const int64_t sum = n * (n + 1) / 2;
  for (const at::ScalarType type :
       {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kInt, at::kLong,
        at::kByte}) {
    at::Tensor tensor = at::full({3, 2}, rank.rank() + 1, type);
    rank.all().AllReduce(tensor, ReduceOp::kSum);
    EXPECT_TRUE(at::equal(tensor, at::full({3, 2}, sum, type))) << type;
  }
  at::Tensor turned = at::arange(6).reshape({2, 3}).t();
  rank.all().AllReduce(turned, ReduceOp::kSum);
  EXPECT_TRUE(at::equal(turned, at::arange(6).reshape({2, 3}).t().mul(n)));
  at::Tensor low = at::full({}, rank.rank());
  rank.all().AllReduce(low, ReduceOp::kMin);
  EXPECT_EQ(low.item<int64_t>(), 0);
  at::Tensor high = at::full({}, rank.rank());
  rank.all().AllReduce(high, ReduceOp::kMax);
  EXPECT_EQ(high.item<int64_t>(), n - 1);
  at::Tensor mean = at::full({}, rank.rank() + 1.0);
  rank.all().AllReduce(mean, ReduceOp::kMean);
  EXPECT_EQ(mean.item<double>(),
            static_cast<double>(sum) / static_cast<double>(n));
}

TEST(GroupCollectivesTest, BroadcastsFromAnyRank) {
  Rank rank;
  for (int64_t from = 0; from < rank.all().num_processes(); ++from) {
    at::Tensor bools = at::full({4}, rank.rank() == from, at::kBool);
    rank.all().Broadcast(bools, from);
    EXPECT_TRUE(bools.all().item<bool>());
    at::Tensor turned = at::full({2, 3}, rank.rank()).t();
    rank.all().Broadcast(turned, from);
    EXPECT_TRUE(at::equal(turned, at::full({3, 2}, from)));
  }
  at::Tensor any = at::ones({1});
  EXPECT_THROW(rank.all().Broadcast(any, 9), c10::ValueError);
}

TEST(GroupCollectivesTest, GathersUnequalRows) {
  Rank rank;
  const auto rows = [](int64_t of) { return (of * 3) % 4; };  // rank 0: none
  const std::vector<at::Tensor> all =
      rank.all().AllGather(at::full({rows(rank.rank()), 2}, rank.rank() + 0.5));
  ASSERT_EQ(all.size(), rank.all().num_processes());
  for (int64_t i = 0; i < rank.all().num_processes(); ++i) {
    EXPECT_TRUE(at::equal(all[i], at::full({rows(i), 2}, i + 0.5)));
  }
  EXPECT_EQ(rank.all().AllGather(at::full({}, rank.rank()))[1].item<int64_t>(),
            1);
  EXPECT_EQ(rank.all().AllGather(at::zeros({0, 3}))[1].sizes(),
            at::IntArrayRef({0, 3}));
}

TEST(GroupCollectivesTest, AgreesOnAny) {
  Rank rank;
  EXPECT_FALSE(rank.all().Any(false));
  EXPECT_TRUE(rank.all().Any(rank.rank() == 1));
  rank.all().Barrier();
}

// gloo itself would abort the process at the first of these.
TEST(GroupCollectivesTest, AllRanksNameCallsThatDoNotMatch) {
  Rank rank;
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const c10::ValueError& e) {
      return e.what();
    }
    return "accepted";
  };
  at::Tensor tensor = at::ones({rank.rank() + 2});
  EXPECT_THAT(message([&] { rank.all().AllReduce(tensor, ReduceOp::kSum); }),
              AllOf(HasSubstr("rank 0: AllReduce (op 0) of Float [2] on cpu at "
                              "group_collectives_test.cc:"),
                    HasSubstr("rank 1: AllReduce (op 0) of Float [3]")));
  EXPECT_THAT(message([&] {
                rank.rank() == 0 ? rank.all().Barrier()
                                 : rank.all().Broadcast(tensor);
              }),
              AllOf(HasSubstr("rank 0: Barrier at"),
                    HasSubstr("rank 1: Broadcast from 0 of Float [3]")));
  EXPECT_THAT(
      message([&] { rank.all().AllGather(at::ones({1, tensor.size(0)})); }),
      HasSubstr("rank 1: AllGather of Float [1, 3]"));
  // All ranks can continue.
  EXPECT_TRUE(rank.all().Any(true));
}

}  // namespace
}  // namespace trainyard
