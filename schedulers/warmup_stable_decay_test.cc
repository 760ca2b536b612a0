#include "schedulers/warmup_stable_decay.h"

#include <gtest/gtest.h>

#include <string>

#include "schedulers/testing/golden_file.h"
#include "tools/testing/error_of.h"
#include "trainer/train_unit.h"

namespace trainyard {
namespace {

using Shape = WarmupStableDecayOptions::Shape;

TEST(WarmupStableDecayTest, HeaderExample) {
  const auto schedule =
      WarmupStableDecay({.warmup = Updates(500), .decay = Epochs(0.5)})(
          {.updates_per_epoch = 1000, .total_updates = 3000});
  EXPECT_EQ(schedule->ValueAt(250, 1.0), 0.5);
  EXPECT_EQ(schedule->ValueAt(500, 1.0), 1.0);
  EXPECT_EQ(schedule->ValueAt(2500, 1.0), 1.0);
  EXPECT_DOUBLE_EQ(schedule->ValueAt(2625, 1.0), 0.5);
  EXPECT_EQ(schedule->ValueAt(3000, 1.0), 0.0);
}

Shape ShapeOf(const std::string& name) {
  if (name == "linear") return Shape::kLinear;
  return name == "cosine" ? Shape::kCosine : Shape::kOneMinusSqrt;
}

TEST(WarmupStableDecayTest, EqualsPython) {
  ExpectGolden("warmup_stable_decay", Within::kOfValue,
               [](const GoldenCase& golden) {
                 return WarmupStableDecay(
                     {.warmup = Updates(golden.Number("warmup")),
                      .warmup_start_ratio = golden.Number("warmup_start_ratio"),
                      .decay = Updates(golden.Number("decay")),
                      .shape = ShapeOf(golden.Text("shape")),
                      .min_ratio = golden.Number("min_ratio")});
               });
}

TEST(WarmupStableDecayTest, BadOptionsAreNamed) {
  EXPECT_EQ(ErrorOf([] { WarmupStableDecay({}); }),
            "WarmupStableDecay: decay is 0 updates, want more than 0");
  EXPECT_EQ(ErrorOf([] {
              WarmupStableDecay({.warmup = Updates(6), .decay = Updates(5)})(
                  {.total_updates = 10});
            }),
            "WarmupStableDecay: warmup of 6 updates and decay of 5 updates are "
            "together longer than the run of 10 updates");
  EXPECT_EQ(ErrorOf([] { WarmupStableDecay({.decay = Updates(5)})({}); }),
            "WarmupStableDecay: the run's total_updates is unknown");
}

}  // namespace
}  // namespace trainyard
