// Rprop: each element has a step of its own, which grows while its gradient
// keeps its sign. For full batches. The same numbers as Python's
// torch.optim.Rprop.
//
//   Rprop optimizer(*model, {.lr = 0.01});
//
// Fields: lr, eta_minus, eta_plus, min_step, max_step. Thread-compatible.
#ifndef TRAINYARD_TRAINER_OPTIM_RPROP_H_
#define TRAINYARD_TRAINER_OPTIM_RPROP_H_

#include "trainer/optim/list_optimizer.h"
#include "trainer/optim/param_groups.h"

namespace trainyard {

struct RpropOptions {
  // The first step of every element; later values are not looked at.
  // REQUIRES: >= 0 and finite, as all of them.
  double lr = 1e-2;
  // What a step is multiplied by when the sign changed (REQUIRES: above 0, < 1)
  // and when it did not (REQUIRES: above 1).
  double eta_minus = 0.5;
  double eta_plus = 1.2;
  // Limits of a step.
  double min_step = 1e-6;
  double max_step = 50;
};

class Rprop final : public ListOptimizer {
 public:
  explicit Rprop(const ParamGroups& groups, const RpropOptions& options = {});

 private:
  void Update(Lists& lists) override;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_RPROP_H_
