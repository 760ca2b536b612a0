#include "schedulers/warmup.h"

#include <gtest/gtest.h>

#include "schedulers/cosine.h"
#include "schedulers/polynomial.h"
#include "schedulers/step.h"
#include "schedulers/testing/golden_file.h"
#include "tools/testing/error_of.h"
#include "trainer/train_unit.h"

namespace trainyard {
namespace {

TEST(WarmupTest, HeaderExample) {
  const auto schedule =
      Warmup({.length = Epochs(1)},
             Step({.every = Epochs(30)}))({.updates_per_epoch = 10});
  EXPECT_EQ(schedule->ValueAt(0, 1.0), 0.0);
  EXPECT_EQ(schedule->ValueAt(5, 1.0), 0.5);
  EXPECT_EQ(schedule->ValueAt(10, 1.0), 1.0);
  EXPECT_EQ(schedule->ValueAt(309, 1.0), 1.0);
  EXPECT_EQ(schedule->ValueAt(310, 1.0), 0.1);
}

TEST(WarmupTest, TheOtherScheduleHasTheRestOfTheRun) {
  const RunLength run{.updates_per_epoch = 10, .total_updates = 100};
  const auto outside = Warmup({.length = Epochs(2), .start_ratio = 0.1},
                              Cosine({.min_ratio = 0.01}))(run);
  const auto inside = Cosine(
      {.warmup = Epochs(2), .warmup_start_ratio = 0.1, .min_ratio = 0.01})(run);
  for (int update = 0; update < 110; ++update) {
    EXPECT_EQ(outside->ValueAt(update, 1.0), inside->ValueAt(update, 1.0))
        << update;
  }
}

TEST(WarmupTest, RisesToWhereTheOtherScheduleStarts) {
  const auto schedule = Warmup(
      {.length = Updates(4)}, Warmup({.length = Updates(4), .start_ratio = 0.5},
                                     Step({.every = Updates(100)})))({});
  EXPECT_EQ(schedule->ValueAt(2, 1.0), 0.25);
  EXPECT_EQ(schedule->ValueAt(4, 1.0), 0.5);
  EXPECT_EQ(schedule->ValueAt(6, 1.0), 0.75);
}

TEST(WarmupTest, EqualsPython) {
  ExpectGolden("warmup", Within::kOfValue, [](const GoldenCase& golden) {
    const WarmupOptions options{.length = Updates(golden.Number("warmup")),
                                .start_value = golden.Number("start_value")};
    if (golden.Text("then") == "step") {
      return Warmup(options, Step({.every = Updates(golden.Number("every")),
                                   .gamma = golden.Number("gamma")}));
    }
    return Warmup(options,
                  Polynomial({.power = golden.Number("power"),
                              .length = Updates(golden.Number("length"))}));
  });
}

TEST(WarmupTest, BadOptionsAreNamed) {
  EXPECT_EQ(ErrorOf([] { Warmup({.length = Updates(5)}, nullptr); }),
            "Warmup: there is no schedule after it");
  EXPECT_EQ(ErrorOf([] { Warmup({.start_value = -1.0}, Cosine()); }),
            "Warmup: start_value is -1, want at least 0");
  const RunLength run{.updates_per_epoch = 10, .total_updates = 20};
  EXPECT_EQ(ErrorOf([&] { Warmup({.length = Epochs(3)}, Cosine())(run); }),
            "Warmup: length is 3 epochs (30 updates), longer than the run of "
            "20 updates");
  EXPECT_EQ(ErrorOf([&] { Warmup({.length = Epochs(2)}, Cosine())(run); }),
            "Warmup: length is 2 epochs (20 updates), which leaves nothing of "
            "the 20 updates");
}

}  // namespace
}  // namespace trainyard
