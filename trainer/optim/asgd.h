// Averaged stochastic gradient descent: falling steps, and in the state, under
// "<parameter>/ax", the average of the parameters since update t0. The same
// numbers as Python's torch.optim.ASGD.
//
//   ASGD optimizer(*model, {.lr = 0.01, .t0 = 1000});
//
// Fields: lr, lambd, alpha, t0, weight_decay. Thread-compatible.
#ifndef TRAINYARD_TRAINER_OPTIM_ASGD_H_
#define TRAINYARD_TRAINER_OPTIM_ASGD_H_

#include "trainer/optim/list_optimizer.h"
#include "trainer/optim/param_groups.h"

namespace trainyard {

struct ASGDOptions {
  // Step size. REQUIRES: >= 0 and finite, as all of them.
  double lr = 1e-2;
  // Decay of the parameters, and of the steps.
  double lambd = 1e-4;
  // Power by which steps fall.
  double alpha = 0.75;
  // The update from which on parameters are averaged.
  double t0 = 1e6;
  // Times the parameter, added to its gradient.
  double weight_decay = 0;
};

class ASGD final : public ListOptimizer {
 public:
  explicit ASGD(const ParamGroups& groups, const ASGDOptions& options = {});

 private:
  void Update(Lists& lists) override;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_ASGD_H_
