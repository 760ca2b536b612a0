#include "trainer/optim/sgd.h"

#include "trainer/optim/testing/optimizer_testing.h"

namespace trainyard {
namespace {

TEST(SGDTest, SameAsPython) {
  ExpectSameAsPython<SGD>("sgd", "plain",
                          SGDOptions{.lr = 0.05, .weight_decay = 0.01});
}

TEST(SGDTest, SameAsPythonWithMomentum) {
  ExpectSameAsPython<SGD>(
      "sgd", "momentum",
      SGDOptions{.lr = 0.05, .momentum = 0.9, .weight_decay = 0.01});
}

TEST(SGDTest, SameAsPythonWithNesterov) {
  ExpectSameAsPython<SGD>(
      "sgd", "nesterov",
      SGDOptions{
          .lr = 0.05, .momentum = 0.8, .weight_decay = 0.01, .nesterov = true});
}

TEST(SGDTest, SameAsPythonWithDampening) {
  ExpectSameAsPython<SGD>(
      "sgd", "dampening",
      SGDOptions{
          .lr = 0.05, .momentum = 0.9, .dampening = 0.4, .weight_decay = 0.01});
}

TEST(SGDTest, KeepsTheContract) {
  ExpectContract<SGD>(SGDOptions{.lr = 0.1, .momentum = 0.9, .dampening = 0.5});
}

TEST(SGDTest, RejectsBadOptionsByName) {
  ExpectRefused<SGD>(SGDOptions{.lr = -1},
                     "SGD: lr is -1; it must be a number of at least 0");
  ExpectRefused<SGD>(SGDOptions{.momentum = -0.5}, "SGD: momentum is -0.5");
  ExpectRefused<SGD>(
      SGDOptions{.dampening = 1},
      "SGD: dampening is 1; it must be at least 0 and less than 1");
  ExpectRefused<SGD>(SGDOptions{.weight_decay = -1}, "SGD: weight_decay is -1");
  ExpectRefused<SGD>(SGDOptions{.nesterov = true},
                     "SGD: nesterov needs momentum above 0 and dampening 0; "
                     "group 0 has momentum 0 and dampening 0");
  ExpectRefused<SGD>(
      SGDOptions{.momentum = 0.9, .dampening = 0.1, .nesterov = true},
      "group 0 has momentum 0.9 and dampening 0.1");
}

TEST(SGDTest, MomentumCannotStartLater) {
  const at::Tensor w = TestParameter();
  SGD optimizer({w});
  EXPECT_TRUE(optimizer.NamedTensors().size() == 1);  // the counter alone
  optimizer.Field(0, "momentum") = 0.9;
  w.mutable_grad() = w.detach().clone();
  EXPECT_THROW(optimizer.step(), c10::ValueError);
}

}  // namespace
}  // namespace trainyard
