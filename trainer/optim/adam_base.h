// AdamBase is the common base of Adam and AdamW: fields, state, and the call of
// ATen's fused kernel. The two differ only in the kernel.
//
//   UpdateFused(lists, [](const auto&... arguments) {
//     at::_fused_adamw_(arguments...);
//   });
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_OPTIM_ADAM_BASE_H_
#define TRAINYARD_TRAINER_OPTIM_ADAM_BASE_H_

#include <ATen/core/Tensor.h>

#include <string>

#include "trainer/optim/list_optimizer.h"
#include "trainer/optim/param_groups.h"

namespace trainyard {

class AdamBase : public ListOptimizer {
 public:
  bool element_wise() const override { return true; }
  bool skips_on_device() const override { return true; }
  bool capturable() const override { return true; }

 protected:
  // The order of Lists::fields and of Lists::state.
  enum { kLr, kBeta1, kBeta2, kEps, kWeightDecay };
  enum { kExpAvg, kExpAvgSq, kMaxExpAvgSq };

  // Options is AdamOptions or AdamWOptions.
  template <class Options>
  AdamBase(const std::string& name, const ParamGroups& groups,
           const Options& options)
      : ListOptimizer(name, groups,
                      {{"lr", options.lr},
                       {"beta1", options.beta1, kBelowOne},
                       {"beta2", options.beta2, kBelowOne},
                       {"eps", options.eps},
                       {"weight_decay", options.weight_decay}},
                      Kernel::kFused),
        amsgrad_(options.amsgrad) {
    AddState("exp_avg");
    AddState("exp_avg_sq");
    if (amsgrad_) AddState("max_exp_avg_sq");
    AddSteps(Counter::kDevice);
  }

  bool amsgrad() const { return amsgrad_; }

  // Calls at::_fused_adam_ or at::_fused_adamw_.
  template <class FusedKernel>
  void UpdateFused(Lists& lists, FusedKernel kernel) const {
    const double* const field = lists.fields;
    const auto update = [&](const auto& rate) {
      kernel(lists.params, lists.grads, lists.state[kExpAvg],
             lists.state[kExpAvgSq],
             amsgrad_ ? lists.state[kMaxExpAvgSq] : at::TensorList(),
             lists.steps, rate, field[kBeta1], field[kBeta2],
             field[kWeightDecay], field[kEps], amsgrad_, /*maximize=*/false,
             lists.divisor, lists.skip);
    };
    if (lists.rate.defined()) {
      update(lists.rate);
    } else {
      update(field[kLr]);
    }
  }

 private:
  const bool amsgrad_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_ADAM_BASE_H_
