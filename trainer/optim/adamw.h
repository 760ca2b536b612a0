// AdamW (decoupled weight decay) on ATen's fused kernel: all parameters of a
// group in one call; where gradients are divided on the host, on a kernel of
// our own that does not write them back. The same numbers as Python's
// torch.optim.AdamW(fused=True).
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
  // Step size. REQUIRES: >= 0 and finite, as all of them.
  double lr = 1e-3;
  // Decay of the averages of the gradient and of its square. REQUIRES: < 1.
  double beta1 = 0.9;
  double beta2 = 0.999;
  // Added to the denominator.
  double eps = 1e-8;
  // Share of each parameter taken off per update, times lr.
  double weight_decay = 1e-2;
  // Divides by the largest average of squares so far.
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
