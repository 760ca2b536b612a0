// LAMB is Adam whose step for each parameter is scaled to the norm of the
// parameter; for large batches. Computes the same numbers as
// timm.optim.Lamb(max_grad_norm=None); clip with ClipNorm.
//
//   Lamb optimizer(*model, {.lr = 2e-3});
//
// Fields: lr, beta1, beta2, eps, weight_decay. Thread-compatible.
#ifndef TRAINYARD_TRAINER_OPTIM_LAMB_H_
#define TRAINYARD_TRAINER_OPTIM_LAMB_H_

#include "trainer/optim/list_optimizer.h"
#include "trainer/optim/param_groups.h"

namespace trainyard {

struct LambOptions {
  // Step size. REQUIRES: >= 0 and finite, like all fields.
  double lr = 1e-3;
  // Decay of the averages of the gradient and of its square. REQUIRES: < 1.
  double beta1 = 0.9;
  double beta2 = 0.999;
  // Added to the denominator.
  double eps = 1e-6;
  // The parameter times this is added to its step.
  double weight_decay = 1e-2;
  // Never scale a step up.
  bool trust_clip = false;
  // Scale the steps of groups without weight decay too.
  bool always_adapt = false;
};

class Lamb final : public ListOptimizer {
 public:
  explicit Lamb(const ParamGroups& groups, const LambOptions& options = {});

 private:
  void Update(Lists& lists) override;

  bool trust_clip_;
  bool always_adapt_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_LAMB_H_
