#include "trainer/optim/lamb.h"

#include <cmath>

#include "trainer/optim/testing/optimizer_testing.h"

namespace trainyard {
namespace {

TEST(LambTest, SameAsTimm) {
  ExpectSameAsPython<Lamb>(
      "lamb", "plain",
      LambOptions{.lr = 0.01, .beta1 = 0.8, .beta2 = 0.99, .eps = 1e-6});
}

TEST(LambTest, SameAsTimmWithTrustClip) {
  ExpectSameAsPython<Lamb>("lamb", "clipped",
                           LambOptions{.lr = 0.01,
                                       .beta1 = 0.8,
                                       .beta2 = 0.99,
                                       .eps = 1e-6,
                                       .trust_clip = true});
}

TEST(LambTest, SameAsTimmAlwaysAdapted) {
  ExpectSameAsPython<Lamb>("lamb", "adapted",
                           LambOptions{.lr = 0.01,
                                       .beta1 = 0.8,
                                       .beta2 = 0.99,
                                       .eps = 1e-6,
                                       .weight_decay = 0,
                                       .always_adapt = true});
}

TEST(LambTest, KeepsTheContract) { ExpectContract<Lamb>(LambOptions{}); }

TEST(LambTest, RejectsBadOptionsByName) {
  ExpectRefused<Lamb>(LambOptions{.lr = -1},
                      "Lamb: lr is -1; it must be a number of at least 0");
  ExpectRefused<Lamb>(
      LambOptions{.beta1 = 1},
      "Lamb: beta1 is 1; it must be at least 0 and less than 1");
  ExpectRefused<Lamb>(LambOptions{.beta2 = -0.1}, "Lamb: beta2 is -0.1");
  ExpectRefused<Lamb>(LambOptions{.eps = -1e-8}, "Lamb: eps is -1e-08");
  ExpectRefused<Lamb>(LambOptions{.weight_decay = NAN},
                      "Lamb: weight_decay is nan");
}

}  // namespace
}  // namespace trainyard
