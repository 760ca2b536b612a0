#include "trainer/optim/rprop.h"

#include "trainer/optim/testing/optimizer_testing.h"

namespace trainyard {
namespace {

TEST(RpropTest, SameAsPython) {
  ExpectSameAsPython<Rprop>("rprop", "plain", RpropOptions{.lr = 0.02});
}

TEST(RpropTest, SameAsPythonAtItsLimits) {
  ExpectSameAsPython<Rprop>("rprop", "limits",
                            RpropOptions{.lr = 0.02,
                                         .eta_minus = 0.4,
                                         .eta_plus = 1.3,
                                         .min_step = 1e-3,
                                         .max_step = 0.1});
}

TEST(RpropTest, KeepsTheContract) { ExpectContract<Rprop>(RpropOptions{}); }

TEST(RpropTest, RejectsBadOptionsByName) {
  ExpectRefused<Rprop>(RpropOptions{.lr = -1}, "Rprop: lr is -1");
  ExpectRefused<Rprop>(
      RpropOptions{.eta_minus = 1},
      "Rprop: eta_minus is 1; it must be above 0 and less than 1");
  ExpectRefused<Rprop>(RpropOptions{.eta_plus = 1},
                       "Rprop: eta_plus is 1; it must be a number above 1");
  ExpectRefused<Rprop>(RpropOptions{.min_step = -1}, "Rprop: min_step is -1");
  ExpectRefused<Rprop>(RpropOptions{.max_step = -1}, "Rprop: max_step is -1");
}

}  // namespace
}  // namespace trainyard
