#include "trainer/optim/rmsprop.h"

#include "trainer/optim/testing/optimizer_testing.h"

namespace trainyard {
namespace {

TEST(RMSpropTest, SameAsPython) {
  ExpectSameAsPython<RMSprop>(
      "rmsprop", "plain",
      RMSpropOptions{.lr = 0.01, .alpha = 0.9, .eps = 1e-6});
}

TEST(RMSpropTest, SameAsPythonWithMomentum) {
  ExpectSameAsPython<RMSprop>(
      "rmsprop", "momentum",
      RMSpropOptions{.lr = 0.01, .alpha = 0.9, .eps = 1e-6, .momentum = 0.7});
}

TEST(RMSpropTest, SameAsPythonCentered) {
  ExpectSameAsPython<RMSprop>("rmsprop", "centered",
                              RMSpropOptions{.lr = 0.01,
                                             .alpha = 0.9,
                                             .eps = 1e-6,
                                             .momentum = 0.5,
                                             .centered = true});
}

TEST(RMSpropTest, KeepsTheContract) {
  ExpectContract<RMSprop>(RMSpropOptions{.momentum = 0.5, .centered = true});
}

TEST(RMSpropTest, RejectsBadOptionsByName) {
  ExpectRefused<RMSprop>(RMSpropOptions{.lr = -1}, "RMSprop: lr is -1");
  ExpectRefused<RMSprop>(
      RMSpropOptions{.alpha = 1},
      "RMSprop: alpha is 1; it must be at least 0 and less than 1");
  ExpectRefused<RMSprop>(RMSpropOptions{.eps = -1}, "RMSprop: eps is -1");
  ExpectRefused<RMSprop>(RMSpropOptions{.weight_decay = -1},
                         "RMSprop: weight_decay is -1");
  ExpectRefused<RMSprop>(RMSpropOptions{.momentum = -1},
                         "RMSprop: momentum is -1");
}

TEST(RMSpropTest, MomentumCannotStartLater) {
  const at::Tensor w = TestParameter();
  RMSprop optimizer({w});
  optimizer.Field(0, "momentum") = 0.9;
  w.mutable_grad() = w.detach().clone();
  EXPECT_THROW(optimizer.step(), c10::ValueError);
}

}  // namespace
}  // namespace trainyard
