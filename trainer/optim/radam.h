// RAdam is Adam that uses its mean squares only after enough updates. Computes
// the same numbers as Python's torch.optim.RAdam.
//
//   RAdam optimizer(*model, {.lr = 1e-3});
//
// Fields: lr, beta1, beta2, eps, weight_decay. Thread-compatible.
#ifndef TRAINYARD_TRAINER_OPTIM_RADAM_H_
#define TRAINYARD_TRAINER_OPTIM_RADAM_H_

#include "trainer/optim/list_optimizer.h"
#include "trainer/optim/param_groups.h"

namespace trainyard {

struct RAdamOptions {
  // Step size. REQUIRES: >= 0 and finite, like all fields.
  double lr = 1e-3;
  // Decay of the averages of the gradient and of its square. REQUIRES: < 1.
  double beta1 = 0.9;
  double beta2 = 0.999;
  // Added to the denominator.
  double eps = 1e-8;
  // Applied as decoupled_weight_decay says.
  double weight_decay = 0;
  // True: weight decay reduces the parameter, as in AdamW. False: it is added
  // to the gradient, as in Adam.
  bool decoupled_weight_decay = false;
};

class RAdam final : public ListOptimizer {
 public:
  explicit RAdam(const ParamGroups& groups, const RAdamOptions& options = {});

  bool element_wise() const override { return true; }

 private:
  void Update(Lists& lists) override;

  bool decoupled_weight_decay_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_RADAM_H_
