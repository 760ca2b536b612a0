#include "trainer/cores/core_policy.h"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

// As measured on two cores with two threads that work in step.
const CoreUse kFreeCores{.run = 2, .waited = 0.02, .active = 2, .others = 0.05};
const CoreUse kBesideOne{.run = 1.2, .waited = 0.7, .active = 2, .others = 0.8};
const CoreUse kBesideALittle{
    .run = 1.7, .waited = 0.3, .active = 2, .others = 0.3};
const CoreUse kOnHalf{.run = 1, .waited = 0.9, .active = 2, .others = 1};
const CoreUse kOnHalfAlone{.run = 1, .waited = 0.9, .active = 2, .others = 0};

CoreSharing After(CorePolicy& policy, int times, const CoreUse& use) {
  CoreSharing sharing{};
  for (int i = 0; i < times; ++i) sharing = policy.Decide(use);
  return sharing;
}

TEST(CorePolicyTest, FreeCoresAreUsedAlone) {
  CorePolicy policy(2);
  EXPECT_EQ(After(policy, 100, kFreeCores), CoreSharing::kAlone);
}

TEST(CorePolicyTest, HeaderExample) {
  CoreUseMeter meter(AllowedCores());
  CorePolicy policy(2);
  EXPECT_EQ(policy.Decide(meter.Measure()), CoreSharing::kAlone);
}

TEST(CorePolicyTest, WaitsAreShortAtOnce) {
  CorePolicy policy(2);
  EXPECT_EQ(policy.Decide(kBesideALittle), CoreSharing::kShortWaits);
  EXPECT_EQ(After(policy, 100, kBesideALittle), CoreSharing::kShortWaits);
}

TEST(CorePolicyTest, ANeighbourThatStaysGetsHalfTheCores) {
  CorePolicy policy(2);
  EXPECT_EQ(After(policy, 5, kBesideOne), CoreSharing::kShortWaits);
  EXPECT_EQ(policy.Decide(kBesideOne), CoreSharing::kHalfTheCores);
  EXPECT_EQ(After(policy, 100, kOnHalf), CoreSharing::kHalfTheCores);
}

TEST(CorePolicyTest, ANeighbourOfASecondDoesNot) {
  CorePolicy policy(2);
  for (int i = 0; i < 20; ++i) {
    After(policy, 2, kBesideOne);
    EXPECT_EQ(After(policy, 4, kFreeCores), CoreSharing::kShortWaits);
  }
}

TEST(CorePolicyTest, AllCoresComeBackWhenOthersHaveEnded) {
  CorePolicy policy(2);
  After(policy, 6, kBesideOne);
  EXPECT_EQ(After(policy, 9, kOnHalfAlone), CoreSharing::kHalfTheCores);
  EXPECT_EQ(policy.Decide(kOnHalfAlone), CoreSharing::kShortWaits);
  EXPECT_EQ(After(policy, 9, kFreeCores), CoreSharing::kShortWaits);
  EXPECT_EQ(policy.Decide(kFreeCores), CoreSharing::kAlone);
}

TEST(CorePolicyTest, APauseOfTheNeighbourIsNotItsEnd) {
  CorePolicy policy(2);
  After(policy, 6, kBesideOne);
  for (int i = 0; i < 20; ++i) {
    After(policy, 8, kOnHalfAlone);
    EXPECT_EQ(policy.Decide(kOnHalf), CoreSharing::kHalfTheCores);
  }
}

TEST(CorePolicyTest, MoreThreadsThanCoresCompeteWithOneAnother) {
  CorePolicy policy(2);
  CoreUse use = kBesideOne;
  use.active = 4;
  EXPECT_EQ(After(policy, 100, use), CoreSharing::kShortWaits);
  After(policy, 10, kBesideOne);
  EXPECT_EQ(After(policy, 10, use), CoreSharing::kShortWaits)
      << "workers started";
}

TEST(CorePolicyTest, FewThreadsFindRoomBesideTheOthers) {
  CorePolicy policy(4);
  CoreUse use{.run = 2, .waited = 0.5, .active = 2, .others = 2};
  EXPECT_EQ(After(policy, 100, use), CoreSharing::kShortWaits);
}

TEST(CorePolicyTest, OneNeighbourOfManyCoresTakesNoneAway) {
  CorePolicy policy(16);
  const CoreUse use{.run = 15, .waited = 0.7, .active = 16, .others = 1};
  EXPECT_EQ(After(policy, 100, use), CoreSharing::kShortWaits);
}

}  // namespace
}  // namespace trainyard
