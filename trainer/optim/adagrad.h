// Adagrad on ATen's fused kernel: the step of each element shrinks with the sum
// of its squared gradients. Computes the same numbers as Python's
// torch.optim.Adagrad(fused=True).
//
//   Adagrad optimizer(*model, {.lr = 0.05});
//
// Fields: lr, lr_decay, weight_decay, eps. Thread-compatible.
#ifndef TRAINYARD_TRAINER_OPTIM_ADAGRAD_H_
#define TRAINYARD_TRAINER_OPTIM_ADAGRAD_H_

#include "trainer/optim/list_optimizer.h"
#include "trainer/optim/param_groups.h"

namespace trainyard {

struct AdagradOptions {
  // Step size. REQUIRES: >= 0 and finite, like all fields.
  double lr = 1e-2;
  // lr is divided by 1 + updates * lr_decay.
  double lr_decay = 0;
  // The parameter times this is added to its gradient.
  double weight_decay = 0;
  // Added to the denominator.
  double eps = 1e-10;
  // Initial value of the sums of squares.
  double initial_accumulator_value = 0;
};

class Adagrad final : public ListOptimizer {
 public:
  explicit Adagrad(const ParamGroups& groups,
                   const AdagradOptions& options = {});

  bool element_wise() const override { return true; }

 private:
  void Update(Lists& lists) override;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_ADAGRAD_H_
