#include "trainer/optim/adagrad.h"

#include "trainer/optim/testing/optimizer_testing.h"

namespace trainyard {
namespace {

TEST(AdagradTest, SameAsPython) {
  ExpectSameAsPython<Adagrad>("adagrad", "plain", AdagradOptions{.lr = 0.1});
}

TEST(AdagradTest, SameAsPythonWithDecay) {
  ExpectSameAsPython<Adagrad>("adagrad", "decay",
                              AdagradOptions{.lr = 0.1,
                                             .lr_decay = 0.01,
                                             .weight_decay = 0.01,
                                             .eps = 1e-6,
                                             .initial_accumulator_value = 0.2});
}

TEST(AdagradTest, KeepsTheContract) {
  ExpectContract<Adagrad>(AdagradOptions{.lr_decay = 0.1});
}

TEST(AdagradTest, RejectsBadOptionsByName) {
  ExpectRefused<Adagrad>(AdagradOptions{.lr = -1}, "Adagrad: lr is -1");
  ExpectRefused<Adagrad>(AdagradOptions{.lr_decay = -1},
                         "Adagrad: lr_decay is -1");
  ExpectRefused<Adagrad>(AdagradOptions{.weight_decay = -1},
                         "Adagrad: weight_decay is -1");
  ExpectRefused<Adagrad>(AdagradOptions{.eps = -1}, "Adagrad: eps is -1");
  ExpectRefused<Adagrad>(AdagradOptions{.initial_accumulator_value = -1},
                         "Adagrad: initial_accumulator_value is -1");
}

}  // namespace
}  // namespace trainyard
