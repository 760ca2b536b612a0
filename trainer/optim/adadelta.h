// Adadelta scales steps by a running average of the earlier steps. Computes the
// same numbers as Python's torch.optim.Adadelta.
//
//   Adadelta optimizer(*model, {.rho = 0.95});
//
// Fields: lr, rho, eps, weight_decay. Thread-compatible.
#ifndef TRAINYARD_TRAINER_OPTIM_ADADELTA_H_
#define TRAINYARD_TRAINER_OPTIM_ADADELTA_H_

#include "trainer/optim/list_optimizer.h"
#include "trainer/optim/param_groups.h"

namespace trainyard {

struct AdadeltaOptions {
  // Factor of the step. REQUIRES: >= 0 and finite, like all fields.
  double lr = 1;
  // Decay of the averages of squares. REQUIRES: < 1.
  double rho = 0.9;
  // Added to both averages before the square root.
  double eps = 1e-6;
  // The parameter times this is added to its gradient.
  double weight_decay = 0;
};

class Adadelta final : public ListOptimizer {
 public:
  explicit Adadelta(const ParamGroups& groups,
                    const AdadeltaOptions& options = {});

  bool element_wise() const override { return true; }

 private:
  void Update(Lists& lists) override;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_ADADELTA_H_
