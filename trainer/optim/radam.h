// RAdam: Adam that trusts its mean squares only once they rest on enough
// updates. The same numbers as Python's torch.optim.RAdam.
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
  // Step size. REQUIRES: >= 0 and finite, as all of them.
  double lr = 1e-3;
  // Decay of the averages of the gradient and of its square. REQUIRES: < 1.
  double beta1 = 0.9;
  double beta2 = 0.999;
  // Added to the denominator.
  double eps = 1e-8;
  // As decoupled_weight_decay says.
  double weight_decay = 0;
  // Takes weight decay off the parameter, as AdamW does, and not into the
  // gradient.
  bool decoupled_weight_decay = false;
};

class RAdam final : public ListOptimizer {
 public:
  explicit RAdam(const ParamGroups& groups, const RAdamOptions& options = {});

 private:
  void Update(Lists& lists) override;

  bool decoupled_weight_decay_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_RADAM_H_
