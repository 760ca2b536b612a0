// LBFGS is libtorch's LBFGS with Trainyard's fields, errors and named state. It
// computes the loss several times per update, so it works in a loop of your own
// and not in a Trainer, which has one loss per update:
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
// All parameters must be in one group. Fields: lr. Thread-compatible.
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
  // Evaluations of the loss per update. Unset: 5/4 of max_iter. REQUIRES: >= 1.
  std::optional<int64_t> max_eval = std::nullopt;
  // An update ends when the largest gradient, or the change of the parameters
  // or of the loss, is at most this. REQUIRES: >= 0.
  double tolerance_grad = 1e-7;
  double tolerance_change = 1e-9;
  // Number of directions that are kept. REQUIRES: >= 1.
  int64_t history_size = 100;
  Search line_search = Search::kNone;
};

class LBFGS final : public Optimizer {
 public:
  explicit LBFGS(const ParamGroups& groups, const LBFGSOptions& options = {});
  ~LBFGS() override;

  // Throws c10::ValueError without a closure.
  at::Tensor step(LossClosure closure = nullptr) override;

  // Returns a copy, named "lbfgs/<what>", of the state of all parameters
  // together. Empty before the first update.
  std::vector<NamedTensor> NamedTensors() const override;
  void LoadTensors(const std::vector<NamedTensor>& tensors) override;

 private:
  void Step(const std::optional<at::Tensor>& divisor) override;

  std::unique_ptr<torch::optim::LBFGS> inner_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_LBFGS_H_
