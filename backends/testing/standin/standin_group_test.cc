// Collectives on the stand-in: they do what they should, and mistakes are
// caught.
#include "backends/testing/standin/standin_group.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <vector>

#include "backends/processes/device_group.h"
#include "backends/testing/rank_group.h"
#include "backends/testing/standin/standin.h"
#include "tools/launch/testing/test_rank.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Group = c10::intrusive_ptr<c10d::Backend>;

at::Device Device() { return at::Device(TestDevice()); }

// A communicator of its own, for what leaves it unusable.
Group MakeGroup(const std::string& name, at::Device device = Device()) {
  return MakeDeviceGroup({.store = c10::make_intrusive<c10d::PrefixStore>(
                              name, RankGroup()->training()->getStore()),
                          .rendezvous = RankGroup()->rendezvous(),
                          .device = device,
                          .timeout = std::chrono::seconds(2)});
}

c10::intrusive_ptr<c10d::Work> AllReduce(const Group& group,
                                         const at::Tensor& tensor) {
  std::vector<at::Tensor> tensors = {tensor};
  return group->allreduce(tensors);
}

c10::intrusive_ptr<c10d::Work> Broadcast(const Group& group,
                                         const at::Tensor& tensor) {
  std::vector<at::Tensor> tensors = {tensor};
  return group->broadcast(tensors);
}

std::string ErrorOfWork(const c10::intrusive_ptr<c10d::Work>& work) {
  try {
    work->wait();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "no error";
}

// After a test in which one rank waits for the watchdog: the others would time
// out in the next one.
void WaitForAllRanks() {
  std::vector<at::Tensor> tensors = {at::zeros({1})};
  RankGroup()->side()->allreduce(tensors)->wait();
}

TEST(StandInGroupTest, ReducesBroadcastsAndGathers) {
  const Group group = MakeGroup("values");
  const int ranks = TestWorldSize();
  const at::Tensor sum = at::full({4}, TestRank() + 1, Device());
  AllReduce(group, sum)->wait();
  EXPECT_EQ(sum.cpu()[0].item<double>(), ranks * (ranks + 1) / 2);
  const at::Tensor first = at::full({4}, TestRank() + 5, Device());
  Broadcast(group, first)->wait();
  EXPECT_EQ(first.cpu()[0].item<double>(), 5);
  at::Tensor mine = at::full({2}, TestRank(), Device());
  at::Tensor all = at::empty({2 * ranks}, Device());
  group->_allgather_base(all, mine)->wait();
  EXPECT_EQ(all.cpu()[2 * ranks - 1].item<double>(), ranks - 1);
  at::Tensor part = at::empty({2}, Device());
  group->_reduce_scatter_base(part, all)->wait();
  EXPECT_EQ(part.cpu()[0].item<double>(), TestRank() * ranks);
}

TEST(StandInGroupTest, ReturnsBeforeTheOtherRanksHaveCalled) {
  const Group group = MakeGroup("at_once");
  const auto& store = RankGroup()->training()->getStore();
  const at::Tensor sum = at::ones({4}, Device());
  c10::intrusive_ptr<c10d::Work> work;
  if (TestRank() == 0) {
    work = AllReduce(group, sum);
    store->set("enqueued", "yes");
  } else {
    store->wait({"enqueued"});
    work = AllReduce(group, sum);
  }
  ResetStandInCounts();
  work->wait();
  // The stream waits, the host does not.
  EXPECT_EQ(StandInCounts().synchronizations, 0);
  EXPECT_GE(StandInCounts().stream_waits, 1);
  EXPECT_EQ(sum.cpu()[0].item<double>(), TestWorldSize());
}

TEST(StandInGroupTest, AResultThatNobodyWaitedForIsARace) {
  const Group group = MakeGroup("race");
  const at::Tensor sum = at::ones({4}, Device());
  const auto work = AllReduce(group, sum);
  sum.add(1);
  EXPECT_THAT(TakeStandInErrors(),
              ElementsAre(AllOf(HasSubstr("race: aten::add"),
                                HasSubstr("which allreduce"))));
  work->wait();
}

TEST(StandInGroupTest, CollectivesOutOfOrderHangUntilTheWatchdogNamesThem) {
  if (TestWorldSize() == 1) GTEST_SKIP() << "one rank is always in order";
  const Group group = MakeGroup("order");
  const at::Tensor x = at::ones({4}, Device());
  const std::string error =
      ErrorOfWork(TestRank() == 0 ? AllReduce(group, x) : Broadcast(group, x));
  EXPECT_THAT(error, AllOf(HasSubstr("watchdog: collective 1 did not end"),
                           HasSubstr("rank 0 is in allreduce of 4 Float"),
                           HasSubstr("rank 1 is in broadcast of 4 Float")));
}

TEST(StandInGroupTest, ARankThatDoesNotCallIsNamed) {
  if (TestWorldSize() == 1) GTEST_SKIP() << "there is no other rank";
  const Group group = MakeGroup("missing");
  const int last = TestWorldSize() - 1;
  const at::Tensor x = at::ones({4}, Device());
  AllReduce(group, x)->wait();
  if (TestRank() != last) {
    EXPECT_THAT(
        ErrorOfWork(AllReduce(group, x)),
        AllOf(HasSubstr("collective 2 did not end"),
              HasSubstr("rank " + std::to_string(last) + " did not call it"),
              HasSubstr("rank 0 is in allreduce of 4 Float")));
  }
  WaitForAllRanks();
}

TEST(StandInGroupTest, ARankThatNeverCallsIsNamed) {
  if (TestWorldSize() == 1) GTEST_SKIP() << "there is no other rank";
  const Group group = MakeGroup("never");
  const int last = TestWorldSize() - 1;
  if (TestRank() != last) {
    EXPECT_THAT(
        ErrorOfWork(AllReduce(group, at::ones({4}, Device()))),
        AllOf(HasSubstr("collective 1 did not end"),
              HasSubstr("rank " + std::to_string(last) + " did not call it"),
              HasSubstr("rank 0 is in allreduce of 4 Float")));
  }
  WaitForAllRanks();
}

// As a gradient is, while some ranks have called something else.
TEST(StandInGroupTest, TrainingAndSideGroupsDoNotWaitForEachOther) {
  const auto& group = RankGroup();
  std::vector<at::Tensor> asked = {at::ones({4}, Device())};
  std::vector<at::Tensor> gradient = {at::full({2}, TestRank() + 1, Device())};
  const int ranks = TestWorldSize();
  c10::intrusive_ptr<c10d::Work> late;
  if (TestRank() == 0) late = group->side()->allreduce(asked);
  group->training()->allreduce(gradient)->wait();
  EXPECT_EQ(gradient[0].cpu()[0].item<double>(), ranks * (ranks + 1) / 2);
  if (TestRank() != 0) late = group->side()->allreduce(asked);
  late->wait();
  EXPECT_EQ(asked[0].cpu()[0].item<double>(), ranks);
}

TEST(StandInGroupTest, EveryRankNeedsADeviceOfItsOwn) {
  if (TestWorldSize() == 1) GTEST_SKIP() << "there is no other rank";
  const Group group = MakeGroup("shared", StandInDevice());
  EXPECT_THAT(ErrorOfWork(AllReduce(group, at::ones({4}, StandInDevice()))),
              AllOf(HasSubstr("both use"), HasSubstr("standin:0")));
}

TEST(StandInGroupTest, RefusesTensorsOfAnotherDevice) {
  const Group group = MakeGroup("other");
  const at::Tensor x = at::ones({4}, StandInDevice(TestRank() + 1));
  EXPECT_THROW(AllReduce(group, x), c10::Error);
  EXPECT_THROW(AllReduce(group, at::ones({4})), c10::Error);
}

}  // namespace
}  // namespace trainyard
