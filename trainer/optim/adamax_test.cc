#include "trainer/optim/adamax.h"

#include <cmath>

#include "trainer/optim/testing/optimizer_testing.h"

namespace trainyard {
namespace {

TEST(AdamaxTest, SameAsPython) {
  ExpectSameAsPython<Adamax>("adamax", "plain",
                             AdamaxOptions{.lr = 0.01,
                                           .beta1 = 0.8,
                                           .beta2 = 0.99,
                                           .eps = 1e-6,
                                           .weight_decay = 0.02});
}

TEST(AdamaxTest, KeepsTheContract) { ExpectContract<Adamax>(AdamaxOptions{}); }

TEST(AdamaxTest, RejectsBadOptionsByName) {
  ExpectRefused<Adamax>(AdamaxOptions{.lr = -1},
                        "Adamax: lr is -1; it must be a number of at least 0");
  ExpectRefused<Adamax>(
      AdamaxOptions{.beta1 = 1},
      "Adamax: beta1 is 1; it must be at least 0 and less than 1");
  ExpectRefused<Adamax>(AdamaxOptions{.beta2 = -0.1}, "Adamax: beta2 is -0.1");
  ExpectRefused<Adamax>(AdamaxOptions{.eps = -1e-8}, "Adamax: eps is -1e-08");
  ExpectRefused<Adamax>(AdamaxOptions{.weight_decay = NAN},
                        "Adamax: weight_decay is nan");
}

}  // namespace
}  // namespace trainyard
