#include "trainer/optim/lion.h"

#include "trainer/optim/testing/optimizer_testing.h"

namespace trainyard {
namespace {

TEST(LionTest, SameAsTimm) {
  ExpectSameAsPython<Lion>(
      "lion", "plain", LionOptions{.lr = 0.003, .beta1 = 0.8, .beta2 = 0.95});
}

TEST(LionTest, KeepsTheContract) {
  ExpectContract<Lion>(LionOptions{.weight_decay = 0.1});
}

TEST(LionTest, RejectsBadOptionsByName) {
  ExpectRefused<Lion>(LionOptions{.lr = -1}, "Lion: lr is -1");
  ExpectRefused<Lion>(LionOptions{.beta1 = 1}, "Lion: beta1 is 1");
  ExpectRefused<Lion>(
      LionOptions{.beta2 = 2},
      "Lion: beta2 is 2; it must be at least 0 and less than 1");
  ExpectRefused<Lion>(LionOptions{.weight_decay = -1},
                      "Lion: weight_decay is -1");
}

}  // namespace
}  // namespace trainyard
