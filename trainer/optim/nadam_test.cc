#include "trainer/optim/nadam.h"

#include <cmath>

#include "trainer/optim/testing/optimizer_testing.h"

namespace trainyard {
namespace {

TEST(NAdamTest, SameAsPython) {
  ExpectSameAsPython<NAdam>("nadam", "plain",
                            NAdamOptions{.lr = 0.01,
                                         .beta1 = 0.8,
                                         .beta2 = 0.99,
                                         .eps = 1e-6,
                                         .weight_decay = 0.02});
}

TEST(NAdamTest, SameAsPythonWithDecoupledDecay) {
  ExpectSameAsPython<NAdam>("nadam", "decoupled",
                            NAdamOptions{.lr = 0.01,
                                         .beta1 = 0.8,
                                         .beta2 = 0.99,
                                         .eps = 1e-6,
                                         .weight_decay = 0.02,
                                         .decoupled_weight_decay = true});
}

TEST(NAdamTest, KeepsTheContract) {
  ExpectContract<NAdam>(NAdamOptions{.weight_decay = 0.1});
}

TEST(NAdamTest, RejectsBadOptionsByName) {
  ExpectRefused<NAdam>(NAdamOptions{.lr = -1},
                       "NAdam: lr is -1; it must be a number of at least 0");
  ExpectRefused<NAdam>(
      NAdamOptions{.beta1 = 1},
      "NAdam: beta1 is 1; it must be at least 0 and less than 1");
  ExpectRefused<NAdam>(NAdamOptions{.beta2 = -0.1}, "NAdam: beta2 is -0.1");
  ExpectRefused<NAdam>(NAdamOptions{.eps = -1e-8}, "NAdam: eps is -1e-08");
  ExpectRefused<NAdam>(NAdamOptions{.weight_decay = NAN},
                       "NAdam: weight_decay is nan");
  ExpectRefused<NAdam>(NAdamOptions{.momentum_decay = -1},
                       "NAdam: momentum_decay is -1");
}

}  // namespace
}  // namespace trainyard
