// Adam on ATen's fused kernel. Weight decay is added to the gradient; AdamW
// reduces the parameter instead. Computes the same numbers as Python's
// torch.optim.Adam(fused=True).
//
//   Adam optimizer(*model, {.lr = 3e-3});
//
// Fields: lr, beta1, beta2, eps, weight_decay. Thread-compatible.
#ifndef TRAINYARD_TRAINER_OPTIM_ADAM_H_
#define TRAINYARD_TRAINER_OPTIM_ADAM_H_

#include "trainer/optim/adam_base.h"
#include "trainer/optim/param_groups.h"

namespace trainyard {

struct AdamOptions {
  // Step size. REQUIRES: >= 0 and finite, like all fields.
  double lr = 1e-3;
  // Decay of the averages of the gradient and of its square. REQUIRES: < 1.
  double beta1 = 0.9;
  double beta2 = 0.999;
  // Added to the denominator.
  double eps = 1e-8;
  // The parameter times this is added to its gradient.
  double weight_decay = 0;
  // Divide by the largest average of squares so far instead of the current one.
  bool amsgrad = false;
};

class Adam final : public AdamBase {
 public:
  explicit Adam(const ParamGroups& groups, const AdamOptions& options = {});

 private:
  void Update(Lists& lists) override;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_ADAM_H_
