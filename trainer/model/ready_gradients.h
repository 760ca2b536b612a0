// ReadyGradients gives a loss the gradients that were computed together with
// it, as a compiled step does. The loss then takes part in everything that
// calls loss.backward().
//
//   const ReadyGradients ready(parameters);
//   ready.Attach(loss, gradients);
//   loss.backward();
//
// Thread-compatible. Shares the parameters.
#ifndef TRAINYARD_TRAINER_MODEL_READY_GRADIENTS_H_
#define TRAINYARD_TRAINER_MODEL_READY_GRADIENTS_H_

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

namespace trainyard {

class ReadyGradients {
 public:
  explicit ReadyGradients(std::vector<at::Tensor> parameters);
  ~ReadyGradients();
  ReadyGradients(ReadyGradients&&) noexcept;
  ReadyGradients& operator=(ReadyGradients&&) noexcept;

  // Whether the same parameters require gradients as at the construction.
  bool IsUpToDate() const;

  // Makes `loss`, a scalar without a gradient function, depend on the
  // parameters that require a gradient. backward() then hands out `gradients`,
  // once. REQUIRES: one for each parameter.
  void Attach(const at::Tensor& loss, std::vector<at::Tensor> gradients) const;

  // Adds the gradients of `loss` times `factor` to those of the parameters, as
  // loss.backward() does, but without the autograd engine. Returns false, and
  // does nothing, for a loss that Attach did not make, and if a hook needs the
  // engine. Throws c10::Error if the gradients were handed out before.
  static bool Add(const at::Tensor& loss, double factor);

 private:
  struct Targets;
  class Function;
  std::shared_ptr<const Targets> targets_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_MODEL_READY_GRADIENTS_H_
