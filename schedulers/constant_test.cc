#include "schedulers/constant.h"

#include <gtest/gtest.h>

#include "schedulers/testing/golden_file.h"
#include "tools/testing/error_of.h"
#include "trainer/train_unit.h"

namespace trainyard {
namespace {

TEST(ConstantTest, HeaderExample) {
  EXPECT_EQ(Constant()({})->ValueAt(1000, 3e-3), 3e-3);
  const auto first = Constant({.ratio = 0.1, .length = Updates(500)})({});
  EXPECT_EQ(first->ValueAt(499, 2.0), 0.2);
  EXPECT_EQ(first->ValueAt(500, 2.0), 2.0);
}

TEST(ConstantTest, EqualsPython) {
  ExpectGolden("constant", Within::kOfValue, [](const GoldenCase& golden) {
    return Constant({.ratio = golden.Number("ratio"),
                     .length = Updates(golden.Number("length"))});
  });
}

TEST(ConstantTest, BadOptionsAreNamed) {
  EXPECT_EQ(ErrorOf([] { Constant({.ratio = -0.5}); }),
            "Constant: ratio is -0.5, want at least 0");
  EXPECT_EQ(ErrorOf([] { Constant({.length = Samples(5)}); }),
            "Constant: length is 5 samples, want updates or epochs");
  EXPECT_EQ(ErrorOf([] {
              Constant({.length = Epochs(3)})(
                  {.updates_per_epoch = 10, .total_updates = 20});
            }),
            "Constant: length is 3 epochs (30 updates), longer than the run of "
            "20 updates");
}

}  // namespace
}  // namespace trainyard
