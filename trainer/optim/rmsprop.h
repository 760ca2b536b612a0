// RMSprop divides steps by a running root mean square of the gradient. Computes
// the same numbers as Python's torch.optim.RMSprop.
//
//   RMSprop optimizer(*model, {.lr = 1e-3, .momentum = 0.9});
//
// Fields: lr, alpha, eps, weight_decay, momentum. Thread-compatible.
#ifndef TRAINYARD_TRAINER_OPTIM_RMSPROP_H_
#define TRAINYARD_TRAINER_OPTIM_RMSPROP_H_

#include "trainer/optim/list_optimizer.h"
#include "trainer/optim/param_groups.h"

namespace trainyard {

struct RMSpropOptions {
  // Step size. REQUIRES: >= 0 and finite, like all fields.
  double lr = 1e-2;
  // Decay of the average of squares. REQUIRES: < 1.
  double alpha = 0.99;
  // Added to the denominator.
  double eps = 1e-8;
  // The parameter times this is added to its gradient.
  double weight_decay = 0;
  // Factor of the previous direction. A group that starts with 0 has no
  // buffers, so its momentum must stay 0.
  double momentum = 0;
  // Divide by the standard deviation instead of the root mean square.
  bool centered = false;
};

class RMSprop final : public ListOptimizer {
 public:
  explicit RMSprop(const ParamGroups& groups,
                   const RMSpropOptions& options = {});

  bool element_wise() const override { return true; }

 private:
  void Update(Lists& lists) override;

  bool centered_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_RMSPROP_H_
