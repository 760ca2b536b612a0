// Adafactor: mean squares kept only as rows and columns, so that a matrix of n
// by m costs n + m numbers of state. The same numbers as Python's
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
  // Largest step, relative to the parameter's own root mean square. REQUIRES:
  // >= 0 and finite.
  double lr = 1e-2;
  // The averages' decay is 1 - updates ^ beta2_decay. REQUIRES: <= 0.
  double beta2_decay = -0.8;
  // Keeps mean squares away from 0: the type's own epsilon unless given.
  std::optional<double> eps1 = std::nullopt;
  // Least root mean square that a parameter counts with. REQUIRES: >= 0.
  double eps2 = 1e-3;
  // Root mean square above which a step is scaled down. REQUIRES: >= 1.
  double d = 1;
  // Share of each parameter taken off per update, times lr. REQUIRES: >= 0.
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
