// LBFGS: libtorch's own, with Trainyard's fields, errors and named state. It
// asks for the loss several times per update, so that it works in a user's own
// loop and not in a trainer, which has one loss per update:
//
//   LBFGS optimizer(*model,
//                   {.line_search = LBFGSOptions::Search::kStrongWolfe});
//   optimizer.step([&] {
//     optimizer.ZeroGrad();
//     at::Tensor loss = Loss(model, batch);
//     loss.backward();
//     return loss;
//   });
//
// All parameters form one group. Fields: lr. Thread-compatible.
#ifndef TRAINYARD_TRAINER_OPTIM_LBFGS_H_
#define TRAINYARD_TRAINER_OPTIM_LBFGS_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "trainer/optim/optimizer.h"
#include "trainer/optim/param_groups.h"

namespace torch::optim {
class LBFGS;
}  // namespace torch::optim

namespace trainyard {

struct LBFGSOptions {
  enum class Search { kNone, kStrongWolfe };

  // Step size; with a line search, the first one tried. REQUIRES: >= 0.
  double lr = 1;
  // Iterations per update. REQUIRES: >= 1.
  int64_t max_iter = 20;
  // Losses asked for per update: 5/4 of max_iter unless given. REQUIRES: >= 1.
  std::optional<int64_t> max_eval = std::nullopt;
  // An update ends once the largest gradient, or the change of parameters or of
  // the loss, is no more than this. REQUIRES: >= 0.
  double tolerance_grad = 1e-7;
  double tolerance_change = 1e-9;
  // Directions that are remembered. REQUIRES: >= 1.
  int64_t history_size = 100;
  Search line_search = Search::kNone;
};

class LBFGS final : public Optimizer {
 public:
  explicit LBFGS(const ParamGroups& groups, const LBFGSOptions& options = {});
  ~LBFGS() override;

  // Throws c10::ValueError without a closure.
  at::Tensor step(LossClosure closure = nullptr) override;

  // A copy, as "lbfgs/<what>", over all parameters in their order; empty before
  // the first update. LoadTensors takes all of it or nothing.
  std::vector<NamedTensor> NamedTensors() const override;
  StateMismatch LoadTensors(const std::vector<NamedTensor>& state,
                          bool strict = true) override;

 private:
  void Step(const std::optional<at::Tensor>& divisor) override;

  std::unique_ptr<torch::optim::LBFGS> inner_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_LBFGS_H_
