#include "schedulers/one_cycle.h"

#include <gtest/gtest.h>

#include "schedulers/testing/golden_file.h"
#include "tools/testing/error_of.h"

namespace trainyard {
namespace {

TEST(OneCycleTest, HeaderExample) {
  const OneCycleOptions options{.pct_start = 0.25};
  ScheduleFactory lr = OneCycle(options);
  ScheduleFactory momentum = OneCycleMomentum(options);
  const RunLength run{.total_updates = 100};
  EXPECT_NEAR(lr(run)->ValueAt(0, 1.0), 1.0 / 25, 1e-15);
  EXPECT_EQ(lr(run)->ValueAt(24, 1.0), 1.0);
  EXPECT_EQ(lr(run)->ValueAt(99, 1.0), 1.0 / 25 / 1e4);
  EXPECT_NEAR(momentum(run)->ValueAt(0, 0.9), 0.95, 1e-15);
  EXPECT_EQ(momentum(run)->ValueAt(24, 0.9), 0.85);
  EXPECT_EQ(momentum(run)->ValueAt(99, 0.9), 0.95);
}

// torch refuses to step on, or bounces back.
TEST(OneCycleTest, TheEndIsHeld) {
  const auto lr = OneCycle()({.total_updates = 100});
  EXPECT_EQ(lr->ValueAt(100, 1.0), lr->ValueAt(99, 1.0));
  EXPECT_EQ(lr->ValueAt(150, 1.0), lr->ValueAt(99, 1.0));
}

// torch divides by zero when a phase is one update long.
TEST(OneCycleTest, APhaseMayBeOneUpdate) {
  const auto lr = OneCycle({.pct_start = 0.01})({.total_updates = 100});
  EXPECT_EQ(lr->ValueAt(0, 1.0), 1.0);
  EXPECT_EQ(OneCycle()({.total_updates = 1})->ValueAt(0, 1.0), 1.0 / 25 / 1e4);
}

OneCycleOptions OptionsOf(const GoldenCase& golden) {
  return {.pct_start = golden.Number("pct_start"),
          .shape = golden.Text("shape") == "linear"
                       ? OneCycleOptions::Shape::kLinear
                       : OneCycleOptions::Shape::kCosine,
          .three_phase = golden.Integer("three_phase") == 1,
          .div_factor = golden.Number("div_factor"),
          .final_div_factor = golden.Number("final_div_factor"),
          .base_momentum = golden.Number("base_momentum"),
          .max_momentum = golden.Number("max_momentum")};
}

TEST(OneCycleTest, EqualsPython) {
  ExpectGolden("one_cycle", Within::kOfBase, [](const GoldenCase& golden) {
    return OneCycle(OptionsOf(golden));
  });
}

TEST(OneCycleTest, MomentumEqualsPython) {
  ExpectGolden("one_cycle_momentum", Within::kOfValue,
               [](const GoldenCase& golden) {
                 return OneCycleMomentum(OptionsOf(golden));
               });
}

TEST(OneCycleTest, BadOptionsAreNamed) {
  EXPECT_EQ(ErrorOf([] { OneCycle({.pct_start = 1.5}); }),
            "OneCycle: pct_start is 1.5, want 0 to 1");
  EXPECT_EQ(ErrorOf([] { OneCycle({.pct_start = 0.6, .three_phase = true}); }),
            "OneCycle: pct_start is 0.6, want 0 to 0.5");
  EXPECT_EQ(ErrorOf([] { OneCycle({.div_factor = 0}); }),
            "OneCycle: div_factor is 0, want more than 0");
  EXPECT_EQ(ErrorOf([] { OneCycle({.final_div_factor = -1}); }),
            "OneCycle: final_div_factor is -1, want more than 0");
  EXPECT_EQ(ErrorOf([] { OneCycleMomentum({.max_momentum = 1.5}); }),
            "OneCycleMomentum: max_momentum is 1.5, want 0 to 1");
  EXPECT_EQ(ErrorOf([] {
              OneCycleMomentum({.base_momentum = 0.9, .max_momentum = 0.8});
            }),
            "OneCycleMomentum: base_momentum is 0.9, want 0 to 0.8");
  EXPECT_EQ(ErrorOf([] { OneCycle()({}); }),
            "OneCycle: the run's total_updates is unknown");
}

}  // namespace
}  // namespace trainyard
