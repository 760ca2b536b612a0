#include "trainer/optim/adafactor.h"

#include <ATen/ops/ones.h>

#include "trainer/optim/testing/optimizer_testing.h"

namespace trainyard {
namespace {

TEST(AdafactorTest, SameAsPython) {
  ExpectSameAsPython<Adafactor>("adafactor", "plain",
                                AdafactorOptions{.lr = 0.03});
}

TEST(AdafactorTest, SameAsPythonWithAllOptions) {
  ExpectSameAsPython<Adafactor>("adafactor", "decay",
                                AdafactorOptions{.lr = 0.5,
                                                 .beta2_decay = -0.6,
                                                 .eps1 = 1e-5,
                                                 .eps2 = 0.01,
                                                 .d = 1.5,
                                                 .weight_decay = 0.02});
}

TEST(AdafactorTest, KeepsTheContract) {
  ExpectContract<Adafactor>(AdafactorOptions{});
}

TEST(AdafactorTest, RejectsBadOptionsByName) {
  ExpectRefused<Adafactor>(AdafactorOptions{.lr = -1}, "Adafactor: lr is -1");
  ExpectRefused<Adafactor>(
      AdafactorOptions{.beta2_decay = 0.5},
      "Adafactor: beta2_decay is 0.5; it must be a number of at most 0");
  ExpectRefused<Adafactor>(AdafactorOptions{.eps1 = -1},
                           "Adafactor: eps1 is -1");
  ExpectRefused<Adafactor>(AdafactorOptions{.eps2 = -1},
                           "Adafactor: eps2 is -1");
  ExpectRefused<Adafactor>(
      AdafactorOptions{.d = 0.5},
      "Adafactor: d is 0.5; it must be a number of at least 1");
  ExpectRefused<Adafactor>(AdafactorOptions{.weight_decay = -1},
                           "Adafactor: weight_decay is -1");
}

TEST(AdafactorTest, AMatrixKeepsRowsAndColumns) {
  const Adafactor optimizer({at::ones({3, 5}).requires_grad_()});
  EXPECT_EQ(optimizer.NamedTensors()[0].name, "0/col_var");
  EXPECT_EQ(optimizer.NamedTensors()[0].tensor.numel(), 5);
  EXPECT_EQ(optimizer.NamedTensors()[1].name, "0/row_var");
  EXPECT_EQ(optimizer.NamedTensors()[1].tensor.numel(), 3);
  EXPECT_EQ(optimizer.NamedTensors().size(), 3);  // and the counter
}

}  // namespace
}  // namespace trainyard
