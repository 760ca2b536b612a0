#include "trainer/optim/asgd.h"

#include "trainer/optim/testing/optimizer_testing.h"

namespace trainyard {
namespace {

TEST(ASGDTest, SameAsPython) {
  ExpectSameAsPython<ASGD>("asgd", "plain",
                           ASGDOptions{.lr = 0.05, .weight_decay = 0.01});
}

TEST(ASGDTest, SameAsPythonWhileAveraging) {
  ExpectSameAsPython<ASGD>(
      "asgd", "averaging",
      ASGDOptions{.lr = 0.05, .lambd = 0.01, .alpha = 0.6, .t0 = 50});
}

TEST(ASGDTest, KeepsTheContract) { ExpectContract<ASGD>(ASGDOptions{.t0 = 5}); }

TEST(ASGDTest, RejectsBadOptionsByName) {
  ExpectRefused<ASGD>(ASGDOptions{.lr = -1}, "ASGD: lr is -1");
  ExpectRefused<ASGD>(ASGDOptions{.lambd = -1}, "ASGD: lambd is -1");
  ExpectRefused<ASGD>(ASGDOptions{.alpha = -1}, "ASGD: alpha is -1");
  ExpectRefused<ASGD>(ASGDOptions{.t0 = -1}, "ASGD: t0 is -1");
  ExpectRefused<ASGD>(ASGDOptions{.weight_decay = -1},
                      "ASGD: weight_decay is -1");
}

}  // namespace
}  // namespace trainyard
