// Muon: momentum whose every matrix is made nearly orthogonal before the step.
// For the matrices of hidden layers; give the other parameters to AdamW. The
// same numbers as Python's torch.optim.Muon.
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
  // How lr depends on a matrix of n rows and m columns: times
  // sqrt(max(1, n / m)), or times 0.2 * sqrt(max(n, m)), with which values
  // tuned for AdamW can be kept.
  enum class Scale { kOriginal, kMatchRmsAdamW };

  // Step size. REQUIRES: >= 0 and finite, as all of them.
  double lr = 1e-3;
  // Share of each parameter taken off per update, times lr.
  double weight_decay = 0.1;
  // Decay of the average of gradients. REQUIRES: < 1.
  double momentum = 0.95;
  // Looks one step ahead along the momentum.
  bool nesterov = true;
  Scale scale = Scale::kOriginal;
  // The Newton-Schulz iteration: x becomes ax + b(xx')x + c(xx')(xx')x.
  double a = 3.4445;
  double b = -4.775;
  double c = 2.0315;
  // Least norm that a matrix is divided by. REQUIRES: above 0.
  double eps = 1e-7;
  // Number of iterations. REQUIRES: from 1 to 99.
  int ns_steps = 5;
  // Iterates in bfloat16, which is enough, or else in the parameters' type.
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
