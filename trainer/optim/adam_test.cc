#include "trainer/optim/adam.h"

#include <cmath>

#include "trainer/optim/testing/optimizer_testing.h"

namespace trainyard {
namespace {

TEST(AdamTest, SameAsPython) {
  ExpectSameAsPython<Adam>("adam", "plain",
                           AdamOptions{.lr = 0.01,
                                       .beta1 = 0.8,
                                       .beta2 = 0.99,
                                       .eps = 1e-6,
                                       .weight_decay = 0.02});
}

TEST(AdamTest, SameAsPythonWithAmsgrad) {
  ExpectSameAsPython<Adam>("adam", "amsgrad",
                           AdamOptions{.lr = 0.01,
                                       .beta1 = 0.8,
                                       .beta2 = 0.99,
                                       .eps = 1e-6,
                                       .amsgrad = true});
}

TEST(AdamTest, KeepsTheContract) {
  ExpectContract<Adam>(AdamOptions{.amsgrad = true});
}

TEST(AdamTest, RejectsBadOptionsByName) {
  ExpectRefused<Adam>(AdamOptions{.lr = -1},
                      "Adam: lr is -1; it must be a number of at least 0");
  ExpectRefused<Adam>(
      AdamOptions{.beta1 = 1},
      "Adam: beta1 is 1; it must be at least 0 and less than 1");
  ExpectRefused<Adam>(AdamOptions{.beta2 = -0.1}, "Adam: beta2 is -0.1");
  ExpectRefused<Adam>(AdamOptions{.eps = -1e-8}, "Adam: eps is -1e-08");
  ExpectRefused<Adam>(AdamOptions{.weight_decay = NAN},
                      "Adam: weight_decay is nan");
}

}  // namespace
}  // namespace trainyard
