#include "trainer/optim/adadelta.h"

#include "trainer/optim/testing/optimizer_testing.h"

namespace trainyard {
namespace {

TEST(AdadeltaTest, SameAsPython) {
  ExpectSameAsPython<Adadelta>(
      "adadelta", "plain", AdadeltaOptions{.lr = 0.7, .rho = 0.8, .eps = 1e-5});
}

TEST(AdadeltaTest, KeepsTheContract) {
  ExpectContract<Adadelta>(AdadeltaOptions{});
}

TEST(AdadeltaTest, RejectsBadOptionsByName) {
  ExpectRefused<Adadelta>(AdadeltaOptions{.lr = -1}, "Adadelta: lr is -1");
  ExpectRefused<Adadelta>(
      AdadeltaOptions{.rho = 1},
      "Adadelta: rho is 1; it must be at least 0 and less than 1");
  ExpectRefused<Adadelta>(AdadeltaOptions{.eps = -1}, "Adadelta: eps is -1");
  ExpectRefused<Adadelta>(AdadeltaOptions{.weight_decay = -1},
                          "Adadelta: weight_decay is -1");
}

}  // namespace
}  // namespace trainyard
