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

#include <future>
#include <string>
#include <thread>

#include "backends/gather_text.h"
#include "backends/testing/spawn_ranks.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Rank {
 public:
  Collectives& all() { return *collectives_; }
  int64_t rank() { return collectives_->rank(); }

 private:
  ProcessGroup group_{{.rendezvous = RendezvousFromEnvironment(),
                       .timeout = std::chrono::seconds(60)}};
  const std::unique_ptr<Collectives> collectives_ =
      MakeGroupCollectives(group_);
};

// Ranks 0 and 1 may wait for the sum while their other thread gathers; rank 2
// begins the sum when the texts are there.
TEST(GroupCollectivesTest, AnotherThreadHasCallsOfItsOwn) {
  if (SpawnRanks(3)) return;
  Rank rank;
  const auto other = rank.all().ForAnotherThread();
  std::promise<void> gathered;
  std::thread thread([&] {
    EXPECT_EQ(GatherText(*other, std::string(rank.rank() * 3, 'x')),
              (std::vector<std::string>{"", "xxx", "xxxxxx"}));
    gathered.set_value();
  });
  if (rank.rank() == 2) gathered.get_future().wait();
  at::Tensor one = at::ones({2});
  rank.all().AllReduce(one, ReduceOp::kSum);
  EXPECT_TRUE(at::equal(one, at::full({2}, 3.0)));
  thread.join();
}

TEST(GroupCollectivesTest, ReducesEveryTypeAndLayout) {
  if (SpawnRanks(4)) return;
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
  if (SpawnRanks(2)) return;
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
  if (SpawnRanks(4)) return;
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
  if (SpawnRanks(2)) return;
  Rank rank;
  EXPECT_FALSE(rank.all().Any(false));
  EXPECT_TRUE(rank.all().Any(rank.rank() == 1));
  rank.all().Barrier();
}

// gloo would end the program at the first of these.
TEST(GroupCollectivesTest, CallsThatDoNotFitAreNamedOnAllRanks) {
  if (SpawnRanks(2)) return;
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
  // And all of them go on.
  EXPECT_TRUE(rank.all().Any(true));
}

}  // namespace
}  // namespace trainyard
