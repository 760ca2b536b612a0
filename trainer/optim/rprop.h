// Rprop keeps a step size for each element, which grows while the sign of its
// gradient stays the same. For full batches. Computes the same numbers as
// Python's torch.optim.Rprop.
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
  // The first step size of every element; later values have no effect.
  // REQUIRES: >= 0 and finite, like all fields.
  double lr = 1e-2;
  // The factors of the step size if the sign has changed (REQUIRES: > 0, < 1)
  // and if it has not (REQUIRES: > 1).
  double eta_minus = 0.5;
  double eta_plus = 1.2;
  // Limits of the step size.
  double min_step = 1e-6;
  double max_step = 50;
};

class Rprop final : public ListOptimizer {
 public:
  explicit Rprop(const ParamGroups& groups, const RpropOptions& options = {});

  bool element_wise() const override { return true; }

 private:
  void Update(Lists& lists) override;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_RPROP_H_
