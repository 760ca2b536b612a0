// Lion makes steps of equal size along the sign of the momentum, with half of
// Adam's state. Computes the same numbers as timm.optim.Lion.
//
//   Lion optimizer(*model, {.lr = 1e-4, .weight_decay = 0.1});
//
// Fields: lr, beta1, beta2, weight_decay. Thread-compatible.
#ifndef TRAINYARD_TRAINER_OPTIM_LION_H_
#define TRAINYARD_TRAINER_OPTIM_LION_H_

#include "trainer/optim/list_optimizer.h"
#include "trainer/optim/param_groups.h"

namespace trainyard {

struct LionOptions {
  // Step size. REQUIRES: >= 0 and finite, like all fields.
  double lr = 1e-4;
  // Weight of the average in the step, and decay of the average. REQUIRES: < 1.
  double beta1 = 0.9;
  double beta2 = 0.99;
  // Each update multiplies the parameter by 1 - lr * weight_decay.
  double weight_decay = 0;
};

class Lion final : public ListOptimizer {
 public:
  explicit Lion(const ParamGroups& groups, const LionOptions& options = {});

  bool element_wise() const override { return true; }

 private:
  void Update(Lists& lists) override;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_LION_H_
