#include "schedulers/cyclic.h"

#include <gtest/gtest.h>

#include <string>

#include "schedulers/testing/golden_file.h"
#include "tools/testing/error_of.h"
#include "trainer/train_unit.h"

namespace trainyard {
namespace {

TEST(CyclicTest, HeaderExample) {
  const auto schedule = Cyclic(
      {.peak_ratio = 10, .up = Epochs(2), .mode = CyclicMode::kTriangular2})(
      {.updates_per_epoch = 10});
  EXPECT_EQ(schedule->ValueAt(0, 1.0), 1.0);
  EXPECT_EQ(schedule->ValueAt(20, 1.0), 10.0);
  EXPECT_EQ(schedule->ValueAt(40, 1.0), 1.0);
  EXPECT_EQ(schedule->ValueAt(60, 1.0), 5.5);
}

CyclicMode ModeOf(const std::string& name) {
  if (name == "triangular2") return CyclicMode::kTriangular2;
  if (name == "exp_range") return CyclicMode::kExpRange;
  return CyclicMode::kTriangular;
}

TEST(CyclicTest, EqualsPython) {
  ExpectGolden("cyclic", Within::kOfValue, [](const GoldenCase& golden) {
    return Cyclic({.peak_value = golden.Number("peak_value"),
                   .up = Updates(golden.Number("up")),
                   .down = Updates(golden.Number("down")),
                   .mode = ModeOf(golden.Text("mode")),
                   .gamma = golden.Number("gamma")});
  });
}

TEST(CyclicTest, BadOptionsAreNamed) {
  EXPECT_EQ(ErrorOf([] { Cyclic({.up = Updates(5)}); }),
            "Cyclic: neither peak_value nor peak_ratio is set, want one");
  EXPECT_EQ(ErrorOf([] { Cyclic({.peak_ratio = 2.0}); }),
            "Cyclic: up is 0 updates, want more than 0");
  EXPECT_EQ(ErrorOf([] {
              Cyclic({.peak_ratio = 2.0, .up = Updates(5), .down = Updates(0)});
            }),
            "Cyclic: down is 0 updates, want more than 0");
  EXPECT_EQ(ErrorOf([] {
              Cyclic({.peak_ratio = 2.0, .up = Updates(5), .gamma = 0});
            }),
            "Cyclic: gamma is 0, want more than 0");
}

}  // namespace
}  // namespace trainyard
