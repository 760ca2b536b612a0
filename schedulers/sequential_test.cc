#include "schedulers/sequential.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "schedulers/constant.h"
#include "schedulers/cosine_annealing.h"
#include "schedulers/linear.h"
#include "schedulers/testing/composed_golden.h"
#include "schedulers/testing/golden_file.h"
#include "tools/testing/error_of.h"
#include "trainer/train_unit.h"

namespace trainyard {
namespace {

TEST(SequentialTest, HeaderExample) {
  const auto schedule =
      Sequential({{Linear({.start_ratio = 0.1, .end_ratio = 1}), Epochs(1)},
                  {Constant(), Epochs(3)},
                  {CosineAnnealing()}})(
          {.num_epochs = 10, .updates_per_epoch = 10, .total_updates = 100});
  EXPECT_EQ(schedule->ValueAt(0, 1.0), 0.1);
  EXPECT_DOUBLE_EQ(schedule->ValueAt(5, 1.0), 0.55);
  EXPECT_EQ(schedule->ValueAt(10, 1.0), 1.0);
  EXPECT_EQ(schedule->ValueAt(40, 1.0), 1.0);
  EXPECT_DOUBLE_EQ(schedule->ValueAt(70, 1.0), 0.5);
  EXPECT_EQ(schedule->ValueAt(100, 1.0), 0.0);
}

TEST(SequentialTest, EachPartSeesItsOwnLength) {
  std::vector<RunLength> seen;
  const auto see = [&seen](const RunLength& run) {
    seen.push_back(run);
    return Constant()(run);
  };
  Sequential({{see, Epochs(1)}, {see, Updates(25)}, {see}})(
      {.num_epochs = 10, .updates_per_epoch = 10, .total_updates = 100});
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0].total_updates, 10);
  EXPECT_EQ(seen[0].num_epochs, 1);
  EXPECT_EQ(seen[1].total_updates, 25);
  EXPECT_EQ(seen[1].num_epochs, 3);
  EXPECT_EQ(seen[2].total_updates, 65);
  EXPECT_EQ(seen[2].updates_per_epoch, 10);
}

TEST(SequentialTest, EqualsPython) {
  ExpectGolden("sequential", Within::kOfValue, [](const GoldenCase& golden) {
    const std::vector<std::string> names = golden.List("parts");
    const std::vector<std::string> milestones = golden.List("milestones");
    std::vector<SequentialPart> parts;
    int start = 0;
    for (size_t i = 0; i < names.size(); ++i) {
      parts.push_back({ComposedGolden(names[i])});
      if (i == milestones.size()) break;
      const int end = std::stoi(milestones[i]);
      parts[i].length = Updates(end - start);
      start = end;
    }
    return Sequential(parts);
  });
}

TEST(SequentialTest, BadPartsAreNamed) {
  EXPECT_EQ(ErrorOf([] { Sequential({}); }),
            "Sequential: the list of parts is empty");
  EXPECT_EQ(ErrorOf([] { Sequential({{Constant(), Updates(5)}, {nullptr}}); }),
            "Sequential: part 2 has no schedule");
  EXPECT_EQ(ErrorOf([] { Sequential({{Constant()}, {Constant()}}); }),
            "Sequential: length of part 1 is not set");
  EXPECT_EQ(ErrorOf([] { Sequential({{Constant(), Epochs(2)}}); }),
            "Sequential: length of part 1 is 2 epochs, but the last part takes "
            "the rest of the run");
  EXPECT_EQ(
      ErrorOf([] { Sequential({{Constant(), Seconds(2)}, {Constant()}}); }),
      "Sequential: length of part 1 is 2 seconds, want updates or "
      "epochs");
  EXPECT_EQ(ErrorOf([] {
              Sequential({{Constant(), Updates(5)},
                          {Constant(), Updates(6)},
                          {Constant()}})({.total_updates = 10});
            }),
            "Sequential: length of part 2 is 6 updates, longer than the run of "
            "5 updates");
}

}  // namespace
}  // namespace trainyard
