// SGD is stochastic gradient descent with momentum, on ATen's fused kernel.
// Computes the same numbers as Python's torch.optim.SGD(fused=True).
//
//   SGD optimizer(*model, {.lr = 0.1, .momentum = 0.9, .nesterov = true});
//
// Fields: lr, momentum, dampening, weight_decay. Thread-compatible.
#ifndef TRAINYARD_TRAINER_OPTIM_SGD_H_
#define TRAINYARD_TRAINER_OPTIM_SGD_H_

#include "trainer/optim/list_optimizer.h"
#include "trainer/optim/param_groups.h"

namespace trainyard {

struct SGDOptions {
  // Step size. REQUIRES: >= 0 and finite, like all fields.
  double lr = 1e-3;
  // Factor of the previous direction. A group that starts with 0 has no
  // buffers, so its momentum must stay 0.
  double momentum = 0;
  // The gradient is added to the direction with weight 1 - dampening.
  // REQUIRES: < 1, and 0 with nesterov.
  double dampening = 0;
  // The parameter times this is added to its gradient.
  double weight_decay = 0;
  // Look one step ahead along the direction. REQUIRES: momentum > 0.
  bool nesterov = false;
};

class SGD final : public ListOptimizer {
 public:
  explicit SGD(const ParamGroups& groups, const SGDOptions& options = {});

  bool element_wise() const override { return true; }
  bool skips_on_device() const override { return true; }
  bool capturable() const override { return true; }

 private:
  void Update(Lists& lists) override;
  void CheckGroup(size_t index, const ParamGroup& group) const override;

  bool nesterov_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_SGD_H_
