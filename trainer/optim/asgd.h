// ASGD is averaged stochastic gradient descent: steps get smaller over time,
// and the state has the average of each parameter since update t0, under
// "<parameter>/ax". Computes the same numbers as Python's torch.optim.ASGD.
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
  // Step size. REQUIRES: >= 0 and finite, like all fields.
  double lr = 1e-2;
  // Decay of the parameters and of the step size.
  double lambd = 1e-4;
  // Exponent of the decay of the step size.
  double alpha = 0.75;
  // The update at which averaging starts.
  double t0 = 1e6;
  // The parameter times this is added to its gradient.
  double weight_decay = 0;
};

class ASGD final : public ListOptimizer {
 public:
  explicit ASGD(const ParamGroups& groups, const ASGDOptions& options = {});

  bool element_wise() const override { return true; }

 private:
  void Update(Lists& lists) override;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_ASGD_H_
