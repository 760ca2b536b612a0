// Optimizer is the base of Trainyard's optimizers. It is a
// torch::optim::Optimizer, so that a user's own loop keeps working, and adds
// what a trainer needs: fields that a schedule can set (lr, weight_decay, …),
// one division of all gradients folded into the update, and state under the
// parameters' names.
//
//   optimizer.ZeroGrad();
//   loss.backward();
//   optimizer.step();
//
// An optimizer that updates parameters by lists derives from ListOptimizer.
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_OPTIM_OPTIMIZER_H_
#define TRAINYARD_TRAINER_OPTIM_OPTIMIZER_H_

#include <ATen/core/Tensor.h>
#include <torch/optim/optimizer.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/optim/field_spec.h"
#include "trainer/optim/named_state.h"
#include "trainer/optim/param_groups.h"

namespace trainyard {

class Optimizer : public torch::optim::Optimizer {
 public:
  // One update from the gradients as they are. A closure, if given, is called
  // first.
  at::Tensor step(LossClosure closure = nullptr) override;

  // One update from the gradients divided by `divisor`, a float scalar on the
  // parameters' device. What the gradients hold afterwards is not specified.
  void StepDivided(const at::Tensor& divisor);

  // Lets go of all gradients, so that the next backward need not add to zeros.
  void ZeroGrad();

  // The gradients there are, in the parameters' order. Valid until the next
  // call.
  const std::vector<at::Tensor>& Gradients();

  size_t num_groups() const { return param_groups().size(); }

  // A number of a group that a schedule may set, e.g. "lr". Throws, listing
  // what there is, if the group has no such field or there is no such group.
  // The reference stays valid.
  double& Field(size_t group, std::string_view name);

  // All of a group's fields, by name.
  std::vector<std::pair<std::string, double>> Fields(size_t group) const;

  // Every tensor of the state as "<parameter>/<what>", in name order. Shares
  // memory.
  virtual std::vector<NamedTensor> State() const = 0;

  // Copies a state that State gave, here or in a run before. If names or shapes
  // differ it throws c10::ValueError, listing them, and changes nothing; not
  // strict, it copies what fits and returns what does not.
  virtual StateMismatch LoadState(const std::vector<NamedTensor>& state,
                                  bool strict = true);

 protected:
  // A group's overrides must name some of `fields`. Throws c10::ValueError if
  // a value is out of its range.
  Optimizer(const std::string& name, const ParamGroups& groups,
            const std::vector<FieldSpec>& fields);

  // Called without gradient recording.
  virtual void Step(const std::optional<at::Tensor>& divisor) = 0;

  const std::string& name() const { return name_; }
  // A group's values, in the order of the constructor's `fields`. The pointer
  // stays valid.
  const double* fields(size_t group) const;

 private:
  std::string name_;
  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> gradients_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_OPTIMIZER_H_
