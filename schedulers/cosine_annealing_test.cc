#include "schedulers/cosine_annealing.h"

#include <gtest/gtest.h>

#include "schedulers/testing/golden_file.h"
#include "tools/testing/error_of.h"
#include "trainer/train_unit.h"

namespace trainyard {
namespace {

TEST(CosineAnnealingTest, HeaderExample) {
  const auto schedule =
      CosineAnnealing({.half_period = Epochs(10), .min_ratio = 0.01})(
          {.updates_per_epoch = 10});
  EXPECT_EQ(schedule->ValueAt(0, 1.0), 1.0);
  EXPECT_DOUBLE_EQ(schedule->ValueAt(50, 1.0), 0.505);
  EXPECT_EQ(schedule->ValueAt(100, 1.0), 0.01);
  EXPECT_EQ(schedule->ValueAt(200, 1.0), 1.0);
}

TEST(CosineAnnealingTest, LateWavesAreAsExactAsEarlyOnes) {
  const auto schedule = CosineAnnealing({.half_period = Updates(7)})({});
  EXPECT_EQ(schedule->ValueAt(14'000'000'003, 1.0), schedule->ValueAt(3, 1.0));
}

TEST(CosineAnnealingTest, UnsetHalfPeriodIsTheWholeRun) {
  const auto schedule = CosineAnnealing()({.total_updates = 80});
  EXPECT_EQ(schedule->ValueAt(80, 1.0), 0.0);
}

TEST(CosineAnnealingTest, EqualsPython) {
  ExpectGolden("cosine_annealing", Within::kOfBase,
               [](const GoldenCase& golden) {
                 return CosineAnnealing(
                     {.half_period = Updates(golden.Number("half_period")),
                      .min_value = golden.Number("min_value")});
               });
}

TEST(CosineAnnealingTest, BadOptionsAreNamed) {
  EXPECT_EQ(ErrorOf([] { CosineAnnealing({.half_period = Updates(0)}); }),
            "CosineAnnealing: half_period is 0 updates, want more than 0");
  EXPECT_EQ(ErrorOf([] { CosineAnnealing({.min_ratio = -1.0}); }),
            "CosineAnnealing: min_ratio is -1, want at least 0");
  EXPECT_EQ(ErrorOf([] { CosineAnnealing()({}); }),
            "CosineAnnealing: the run's total_updates is unknown");
}

}  // namespace
}  // namespace trainyard
