// Adamax is Adam with the largest recent gradient instead of the mean square.
// Computes the same numbers as Python's torch.optim.Adamax.
//
//   Adamax optimizer(*model, {.lr = 2e-3});
//
// Fields: lr, beta1, beta2, eps, weight_decay. Thread-compatible.
#ifndef TRAINYARD_TRAINER_OPTIM_ADAMAX_H_
#define TRAINYARD_TRAINER_OPTIM_ADAMAX_H_

#include "trainer/optim/list_optimizer.h"
#include "trainer/optim/param_groups.h"

namespace trainyard {

struct AdamaxOptions {
  // Step size. REQUIRES: >= 0 and finite, like all fields.
  double lr = 2e-3;
  // Decay of the average and of the largest gradient. REQUIRES: < 1.
  double beta1 = 0.9;
  double beta2 = 0.999;
  // Added to the absolute value of the gradient.
  double eps = 1e-8;
  // The parameter times this is added to its gradient.
  double weight_decay = 0;
};

class Adamax final : public ListOptimizer {
 public:
  explicit Adamax(const ParamGroups& groups, const AdamaxOptions& options = {});

  bool element_wise() const override { return true; }

 private:
  void Update(Lists& lists) override;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_ADAMAX_H_
