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
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/optim/field_spec.h"
#include "trainer/optim/named_state.h"
#include "trainer/optim/param_groups.h"
#include "trainer/state.h"

namespace trainyard {

class Optimizer : public torch::optim::Optimizer, public Stateful {
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

  // The value that the group was made with.
  double InitialField(size_t group, std::string_view name) const;

  // Trains more parameters from now on, as a group of its own with new state;
  // those that are here already go on undisturbed. Throws c10::ValueError as
  // the constructor does, if a parameter is here already, and where an
  // optimizer cannot grow; then nothing has changed.
  void AddGroup(const ParamGroup& group);

  // Whether the parameter is in one of the groups.
  bool Trains(const at::Tensor& parameter) const;

  // Every tensor of the state as "<parameter>/<what>", in name order. Shares
  // memory.
  virtual std::vector<NamedTensor> NamedTensors() const = 0;

  // Copies tensors that NamedTensors returned, here or in an earlier run. If
  // names or shapes differ it throws c10::ValueError, listing them, and changes
  // nothing. Not strict: copies what fits and returns what does not.
  virtual StateMismatch LoadTensors(const std::vector<NamedTensor>& tensors,
                                    bool strict = true);

  // The fields of all groups, which a schedule or a callback may have changed.
  State SaveState() const override;
  void LoadState(const State& state) override;

 protected:
  // A group's overrides must name some of `fields`. Throws c10::ValueError if
  // a value is out of its range.
  Optimizer(const std::string& name, const ParamGroups& groups,
            const std::vector<FieldSpec>& fields);

  // Throws c10::ValueError if a group is not what the optimizer can train. For
  // those that are added; a constructor checks its own.
  virtual void CheckGroup(size_t, const ParamGroup&) const {}

  // The last group is new: makes its state.
  virtual void GroupAdded(const ParamGroup& group);

  // Called without gradient recording.
  virtual void Step(const std::optional<at::Tensor>& divisor) = 0;

  const std::string& name() const { return name_; }
  // A group's values, in the order of the constructor's `fields`. The pointer
  // stays valid.
  const double* fields(size_t group) const;

 private:
  void Configure(size_t index, const ParamGroup& group);

  std::string name_;
  std::vector<FieldSpec> specs_;
  std::set<std::string> names_;
  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> gradients_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_OPTIMIZER_H_
