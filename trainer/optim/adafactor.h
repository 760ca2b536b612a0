// Adafactor keeps mean squares per row and per column only: the state of an n
// by m matrix has n + m numbers. Computes the same numbers as Python's
// torch.optim.Adafactor.
//
//   Adafactor optimizer(*model, {.lr = 1e-2});
//
// Fields: lr, beta2_decay, eps2, d, weight_decay. Thread-compatible.
#ifndef TRAINYARD_TRAINER_OPTIM_ADAFACTOR_H_
#define TRAINYARD_TRAINER_OPTIM_ADAFACTOR_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <optional>

#include "trainer/optim/list_optimizer.h"
#include "trainer/optim/param_groups.h"

namespace trainyard {

struct AdafactorOptions {
  // Maximum step, relative to the root mean square of the parameter.
  // REQUIRES: >= 0 and finite.
  double lr = 1e-2;
  // The decay of the averages is 1 - updates ^ beta2_decay. REQUIRES: <= 0.
  double beta2_decay = -0.8;
  // Added to the mean squares. Unset: the epsilon of the parameter's type.
  std::optional<double> eps1 = std::nullopt;
  // Lower bound of the root mean square of a parameter. REQUIRES: >= 0.
  double eps2 = 1e-3;
  // A step with a larger root mean square is scaled down. REQUIRES: >= 1.
  double d = 1;
  // Each update multiplies the parameter by 1 - lr * weight_decay.
  // REQUIRES: >= 0.
  double weight_decay = 0;
};

class Adafactor final : public ListOptimizer {
 public:
  explicit Adafactor(const ParamGroups& groups,
                     const AdafactorOptions& options = {});

 private:
  void Update(Lists& lists) override;

  at::Tensor MeanSquares(const Lists& lists, size_t i, double weight,
                         double eps) const;

  std::optional<double> eps1_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_ADAFACTOR_H_
