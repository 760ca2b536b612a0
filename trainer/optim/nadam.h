// NAdam is Adam that looks ahead along its momentum, which grows over the run.
// Computes the same numbers as Python's torch.optim.NAdam.
//
//   NAdam optimizer(*model, {.lr = 2e-3});
//
// Fields: lr, beta1, beta2, eps, weight_decay, momentum_decay.
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_OPTIM_NADAM_H_
#define TRAINYARD_TRAINER_OPTIM_NADAM_H_

#include "trainer/optim/list_optimizer.h"
#include "trainer/optim/param_groups.h"

namespace trainyard {

struct NAdamOptions {
  // Step size. REQUIRES: >= 0 and finite, like all fields.
  double lr = 2e-3;
  // Decay of the averages of the gradient and of its square. REQUIRES: < 1.
  double beta1 = 0.9;
  double beta2 = 0.999;
  // Added to the denominator.
  double eps = 1e-8;
  // Applied as decoupled_weight_decay says.
  double weight_decay = 0;
  // How fast momentum reaches beta1.
  double momentum_decay = 4e-3;
  // True: weight decay reduces the parameter, as in AdamW. False: it is added
  // to the gradient, as in Adam.
  bool decoupled_weight_decay = false;
};

class NAdam final : public ListOptimizer {
 public:
  explicit NAdam(const ParamGroups& groups, const NAdamOptions& options = {});

  bool element_wise() const override { return true; }

 private:
  void Update(Lists& lists) override;

  bool decoupled_weight_decay_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_NADAM_H_
