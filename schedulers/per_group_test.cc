#include "schedulers/per_group.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "schedulers/constant.h"
#include "schedulers/cosine.h"
#include "schedulers/linear.h"
#include "tools/testing/error_of.h"

namespace trainyard {
namespace {

constexpr RunLength kRun{.total_updates = 10};

TEST(PerGroupTest, HeaderExample) {
  GroupSchedules one = Cosine();
  GroupSchedules each = PerGroup({Cosine(), Constant()});
  std::vector<std::unique_ptr<Schedule>> schedules = each.Resolve(kRun, 2);
  EXPECT_DOUBLE_EQ(schedules[0]->ValueAt(5, 1.0), 0.5);
  EXPECT_EQ(schedules[1]->ValueAt(5, 0.25), 0.25);
  EXPECT_EQ(one.Resolve(kRun, 3).size(), 3u);
}

TEST(PerGroupTest, OneScheduleServesEveryGroup) {
  const GroupSchedules one = Linear();
  for (const auto& schedule : one.Resolve(kRun, 4)) {
    EXPECT_EQ(schedule->ValueAt(5, 1.0), 0.5);
  }
}

TEST(PerGroupTest, NoScheduleIsEmpty) {
  EXPECT_TRUE(GroupSchedules().empty());
  EXPECT_TRUE(GroupSchedules(ScheduleFactory()).empty());
  EXPECT_TRUE(GroupSchedules().Resolve(kRun, 2).empty());
  EXPECT_FALSE(GroupSchedules(Linear()).empty());
}

TEST(PerGroupTest, BadListsAreNamed) {
  EXPECT_EQ(ErrorOf([] { PerGroup({}); }),
            "PerGroup: the list of schedules is empty");
  EXPECT_EQ(ErrorOf([] { PerGroup({Linear(), nullptr}); }),
            "PerGroup: schedule 2 is missing");
  EXPECT_EQ(ErrorOf([] { PerGroup({Linear(), Linear()}).Resolve(kRun, 3); }),
            "PerGroup: there are 2 schedules for 3 param groups");
}

}  // namespace
}  // namespace trainyard
