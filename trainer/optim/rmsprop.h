// RMSprop: steps divided by a running root mean square of the gradient. The
// same numbers as Python's torch.optim.RMSprop.
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
  // Step size. REQUIRES: >= 0 and finite, as all of them.
  double lr = 1e-2;
  // Decay of the average of squares. REQUIRES: < 1.
  double alpha = 0.99;
  // Added to the denominator.
  double eps = 1e-8;
  // Times the parameter, added to its gradient.
  double weight_decay = 0;
  // Share of the last direction that is kept. A group that starts with 0 has no
  // buffers and must stay at 0.
  double momentum = 0;
  // Divides by the deviation from the running mean instead.
  bool centered = false;
};

class RMSprop final : public ListOptimizer {
 public:
  explicit RMSprop(const ParamGroups& groups,
                   const RMSpropOptions& options = {});

 private:
  void Update(Lists& lists) override;

  bool centered_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_RMSPROP_H_
