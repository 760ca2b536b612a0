#include "schedulers/chained.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "schedulers/linear.h"
#include "schedulers/step.h"
#include "schedulers/testing/composed_golden.h"
#include "schedulers/testing/golden_file.h"
#include "tools/testing/error_of.h"
#include "trainer/train_unit.h"

namespace trainyard {
namespace {

TEST(ChainedTest, HeaderExample) {
  const auto schedule = Chained(
      {Linear({.start_ratio = 0.1, .end_ratio = 1, .length = Epochs(1)}),
       Step({.every = Epochs(30)})})({.updates_per_epoch = 10});
  EXPECT_EQ(schedule->ValueAt(0, 1.0), 0.1);
  EXPECT_EQ(schedule->ValueAt(10, 1.0), 1.0);
  EXPECT_EQ(schedule->ValueAt(300, 1.0), 0.1);
}

TEST(ChainedTest, EqualsPython) {
  ExpectGolden("chained", Within::kOfValue, [](const GoldenCase& golden) {
    std::vector<ScheduleFactory> parts;
    for (const std::string& name : golden.List("parts")) {
      parts.push_back(ComposedGolden(name));
    }
    return Chained(parts);
  });
}

TEST(ChainedTest, BadListsAreNamed) {
  EXPECT_EQ(ErrorOf([] { Chained({}); }),
            "Chained: the list of schedules is empty");
  EXPECT_EQ(ErrorOf([] { Chained({Linear(), nullptr}); }),
            "Chained: schedule 2 is missing");
}

}  // namespace
}  // namespace trainyard
