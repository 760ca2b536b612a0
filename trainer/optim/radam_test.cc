#include "trainer/optim/radam.h"

#include <cmath>

#include "trainer/optim/testing/optimizer_testing.h"

namespace trainyard {
namespace {

TEST(RAdamTest, SameAsPython) {
  ExpectSameAsPython<RAdam>("radam", "plain",
                            RAdamOptions{.lr = 0.01,
                                         .beta1 = 0.8,
                                         .beta2 = 0.99,
                                         .eps = 1e-6,
                                         .weight_decay = 0.02});
}

TEST(RAdamTest, SameAsPythonWithDecoupledDecay) {
  ExpectSameAsPython<RAdam>("radam", "decoupled",
                            RAdamOptions{.lr = 0.01,
                                         .beta1 = 0.8,
                                         .beta2 = 0.99,
                                         .eps = 1e-6,
                                         .weight_decay = 0.02,
                                         .decoupled_weight_decay = true});
}

TEST(RAdamTest, KeepsTheContract) {
  ExpectContract<RAdam>(RAdamOptions{.weight_decay = 0.1});
}

TEST(RAdamTest, RejectsBadOptionsByName) {
  ExpectRefused<RAdam>(RAdamOptions{.lr = -1},
                       "RAdam: lr is -1; it must be a number of at least 0");
  ExpectRefused<RAdam>(
      RAdamOptions{.beta1 = 1},
      "RAdam: beta1 is 1; it must be at least 0 and less than 1");
  ExpectRefused<RAdam>(RAdamOptions{.beta2 = -0.1}, "RAdam: beta2 is -0.1");
  ExpectRefused<RAdam>(RAdamOptions{.eps = -1e-8}, "RAdam: eps is -1e-08");
  ExpectRefused<RAdam>(RAdamOptions{.weight_decay = NAN},
                       "RAdam: weight_decay is nan");
}

}  // namespace
}  // namespace trainyard
