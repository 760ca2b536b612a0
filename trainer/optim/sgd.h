// Stochastic gradient descent with momentum on ATen's fused kernel. The same
// numbers as Python's torch.optim.SGD(fused=True).
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
  // Step size. REQUIRES: >= 0 and finite, as all of them.
  double lr = 1e-3;
  // Share of the last direction that is kept. A group that starts with 0 has no
  // buffers and must stay at 0.
  double momentum = 0;
  // Share of the gradient that is kept out of the direction. REQUIRES: < 1, and
  // 0 with nesterov.
  double dampening = 0;
  // Times the parameter, added to its gradient.
  double weight_decay = 0;
  // Looks one step ahead along the direction. REQUIRES: momentum above 0.
  bool nesterov = false;
};

class SGD final : public ListOptimizer {
 public:
  explicit SGD(const ParamGroups& groups, const SGDOptions& options = {});

 private:
  void Update(Lists& lists) override;
  void CheckGroup(size_t index, const ParamGroup& group) const override;

  bool nesterov_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_SGD_H_
