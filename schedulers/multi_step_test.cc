#include "schedulers/multi_step.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "schedulers/testing/golden_file.h"
#include "tools/testing/error_of.h"
#include "trainer/train_unit.h"

namespace trainyard {
namespace {

TEST(MultiStepTest, HeaderExample) {
  const auto schedule = MultiStep({.at = Epochs({30, 60, 80}), .gamma = 0.1})(
      {.updates_per_epoch = 10});
  EXPECT_EQ(schedule->ValueAt(299, 1.0), 1.0);
  EXPECT_EQ(schedule->ValueAt(300, 1.0), 0.1);
  EXPECT_DOUBLE_EQ(schedule->ValueAt(10000, 1.0), 0.001);
}

TEST(MultiStepTest, PointsMayBeOneOrFractions) {
  const RunLength run{.updates_per_epoch = 10};
  EXPECT_EQ(MultiStep({.at = Epochs({2}), .gamma = 0.5})(run)->ValueAt(20, 1.0),
            0.5);
  EXPECT_EQ(
      MultiStep({.at = Epochs({1, 0.5}), .gamma = 0.5})(run)->ValueAt(5, 1.0),
      0.5);
}

TEST(MultiStepTest, EqualsPython) {
  ExpectGolden("multi_step", Within::kOfValue, [](const GoldenCase& golden) {
    std::vector<int64_t> at;
    for (const std::string& point : golden.List("at")) {
      at.push_back(std::stoi(point));
    }
    return MultiStep({.at = Updates(at), .gamma = golden.Number("gamma")});
  });
}

TEST(MultiStepTest, BadOptionsAreNamed) {
  EXPECT_EQ(ErrorOf([] { MultiStep({}); }), "MultiStep: at is empty");
  EXPECT_EQ(ErrorOf([] { MultiStep({.at = Batches({1, 2})}); }),
            "MultiStep: at is 1 batch, want updates or epochs");
  EXPECT_EQ(ErrorOf([] { MultiStep({.at = Updates({1, 2}), .gamma = -1}); }),
            "MultiStep: gamma is -1, want more than 0");
}

}  // namespace
}  // namespace trainyard
