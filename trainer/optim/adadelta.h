// Adadelta: steps in proportion to a running size of the steps before. The same
// numbers as Python's torch.optim.Adadelta.
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
  // Scales the step the rule proposes. REQUIRES: >= 0 and finite, as all of
  // them.
  double lr = 1;
  // Decay of the averages of squares. REQUIRES: < 1.
  double rho = 0.9;
  // Added below both roots.
  double eps = 1e-6;
  // Times the parameter, added to its gradient.
  double weight_decay = 0;
};

class Adadelta final : public ListOptimizer {
 public:
  explicit Adadelta(const ParamGroups& groups,
                    const AdadeltaOptions& options = {});

 private:
  void Update(Lists& lists) override;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_ADADELTA_H_
