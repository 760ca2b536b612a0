// AdamW (decoupled weight decay) on ATen's fused kernel: all parameters of a
// group in one call, with lists built once. The same numbers as Python's
// torch.optim.AdamW(fused=True).
//
//   AdamW optimizer(*model, {.lr = 3e-3});
//
// Fields: lr, beta1, beta2, eps, weight_decay. Thread-compatible.
#ifndef TRAINYARD_TRAINER_OPTIM_ADAMW_H_
#define TRAINYARD_TRAINER_OPTIM_ADAMW_H_

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "trainer/optim/optimizer.h"
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

class AdamW final : public Optimizer {
 public:
  explicit AdamW(const ParamGroups& groups, const AdamWOptions& options = {});

  std::vector<NamedTensor> State() const override;

 private:
  // A group's parameters and state, side by side, as the kernel takes them.
  struct Lists {
    std::vector<at::Tensor> params, grads, exp_avgs, exp_avg_sqs,
        max_exp_avg_sqs, steps;
  };

  void Step(const std::optional<at::Tensor>& divisor) override;
  void StepGroup(size_t group, const Lists& lists,
                 const std::optional<at::Tensor>& divisor);

  bool amsgrad_;
  std::vector<Lists> groups_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_ADAMW_H_
