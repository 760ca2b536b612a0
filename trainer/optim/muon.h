// Muon is momentum whose matrices are made nearly orthogonal before each step.
// Use it for the matrices of hidden layers and AdamW for the other parameters.
// Computes the same numbers as Python's torch.optim.Muon.
//
//   Muon optimizer({{.params = matrices}}, {.lr = 0.02});
//
// Fields: lr, weight_decay, momentum. Thread-compatible.
#ifndef TRAINYARD_TRAINER_OPTIM_MUON_H_
#define TRAINYARD_TRAINER_OPTIM_MUON_H_

#include <ATen/core/Tensor.h>

#include "trainer/optim/list_optimizer.h"
#include "trainer/optim/param_groups.h"

namespace trainyard {

struct MuonOptions {
  // The factor of lr for a matrix of n rows and m columns: sqrt(max(1, n / m)),
  // or 0.2 * sqrt(max(n, m)), which allows values that were tuned for AdamW.
  enum class Scale { kOriginal, kMatchRmsAdamW };

  // Step size. REQUIRES: >= 0 and finite, like all fields.
  double lr = 1e-3;
  // Each update multiplies the parameter by 1 - lr * weight_decay.
  double weight_decay = 0.1;
  // Decay of the average of gradients. REQUIRES: < 1.
  double momentum = 0.95;
  // Look one step ahead along the momentum.
  bool nesterov = true;
  Scale scale = Scale::kOriginal;
  // The Newton-Schulz iteration: x becomes ax + b(xx')x + c(xx')(xx')x.
  double a = 3.4445;
  double b = -4.775;
  double c = 2.0315;
  // Lower bound of the norm that a matrix is divided by. REQUIRES: > 0.
  double eps = 1e-7;
  // Number of iterations. REQUIRES: from 1 to 99.
  int ns_steps = 5;
  // Iterate in bfloat16, which is precise enough. False: in the type of the
  // parameters.
  bool bfloat16 = true;
};

class Muon final : public ListOptimizer {
 public:
  explicit Muon(const ParamGroups& groups, const MuonOptions& options = {});

 private:
  void Update(Lists& lists) override;
  void CheckGroup(size_t index, const ParamGroup& group) const override;

  at::Tensor Orthogonal(const at::Tensor& matrix) const;

  MuonOptions options_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_MUON_H_
