// AdamW (Adam with decoupled weight decay) on ATen's fused kernel, which
// updates all parameters of a group in one call. If gradients are divided on
// the CPU it uses the kernel of adamw_host.h. Computes the same numbers as
// Python's torch.optim.AdamW(fused=True).
//
//   AdamW optimizer(*model, {.lr = 3e-3});
//
// Fields: lr, beta1, beta2, eps, weight_decay. Thread-compatible.
#ifndef TRAINYARD_TRAINER_OPTIM_ADAMW_H_
#define TRAINYARD_TRAINER_OPTIM_ADAMW_H_

#include "trainer/optim/adam_base.h"
#include "trainer/optim/param_groups.h"

namespace trainyard {

struct AdamWOptions {
  // Step size. REQUIRES: >= 0 and finite, like all fields.
  double lr = 1e-3;
  // Decay of the averages of the gradient and of its square. REQUIRES: < 1.
  double beta1 = 0.9;
  double beta2 = 0.999;
  // Added to the denominator.
  double eps = 1e-8;
  // Each update multiplies the parameter by 1 - lr * weight_decay.
  double weight_decay = 1e-2;
  // Divide by the largest average of squares so far instead of the current one.
  bool amsgrad = false;
};

class AdamW final : public AdamBase {
 public:
  explicit AdamW(const ParamGroups& groups, const AdamWOptions& options = {});

 private:
  void Update(Lists& lists) override;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_ADAMW_H_
