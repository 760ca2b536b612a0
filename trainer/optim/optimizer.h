// Optimizer is the base class of Trainyard's optimizers. It is a
// torch::optim::Optimizer, so it works in a loop of your own. It adds fields
// that a schedule can set (lr, weight_decay, …), a division of all gradients as
// part of the update, and state that is saved under the parameters' names.
//
//   optimizer.ZeroGrad();
//   loss.backward();
//   optimizer.step();
//
// To write an optimizer, derive from ListOptimizer. Thread-compatible.
#ifndef TRAINYARD_TRAINER_OPTIM_OPTIMIZER_H_
#define TRAINYARD_TRAINER_OPTIM_OPTIMIZER_H_

#include <ATen/core/Tensor.h>
#include <torch/optim/optimizer.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trainer/model/named_tensor.h"
#include "trainer/optim/field_spec.h"
#include "trainer/optim/param_groups.h"
#include "trainer/state.h"

namespace trainyard {

// A parameter of which this process updates only some elements.
struct ParamSlice {
  at::Tensor whole;
  // A leaf of one dimension with the elements from `begin` on. It may share the
  // memory of the parameter, or be a copy on another device.
  at::Tensor slice;
  int64_t begin = 0;
};

class Optimizer : public torch::optim::Optimizer, public Stateful {
 public:
  // Updates the parameters from their gradients, which stay unchanged. Calls
  // the closure first, if there is one, and returns its loss.
  at::Tensor step(LossClosure closure = nullptr) override;

  // Updates the parameters from their gradients divided by `divisor`, a float
  // scalar on the parameters' device. The gradients are unspecified afterwards.
  void StepDivided(const at::Tensor& divisor);

  // Whether StepUnless may be called.
  virtual bool skips_on_device() const { return false; }

  // As StepDivided, or as step() without a divisor, unless `skip` is 1: then
  // nothing changes but the gradients. Both are float scalars on the
  // parameters' device, and the host does not wait for them. REQUIRES:
  // skips_on_device().
  void StepUnless(const at::Tensor& skip,
                  const std::optional<at::Tensor>& divisor = std::nullopt);

  // To be called once the host knows that the last StepUnless was skipped,
  // before the next step: takes back what the host has counted.
  virtual void TakeBackStep() {}

  // Drops all gradients, so that the next backward pass need not add to zeros.
  void ZeroGrad();

  // Returns the gradients that exist, in the order of the parameters. The list
  // is valid until the next call.
  const std::vector<at::Tensor>& Gradients();

  size_t num_groups() const { return param_groups().size(); }

  // Returns a number of a group that a schedule may set, e.g. "lr". The
  // reference stays valid. Throws c10::IndexError if there is no such group and
  // c10::ValueError, listing the fields, if there is no such field.
  double& Field(size_t group, std::string_view name);

  // Returns all fields of a group, by name.
  std::vector<std::pair<std::string, double>> Fields(size_t group) const;

  // Returns the value that the field had when the group was created.
  double InitialField(size_t group, std::string_view name) const;

  // Adds parameters to train, as a group with fresh state. The other groups are
  // not affected. Throws c10::ValueError for a group that the constructor would
  // reject, for a parameter that is already trained, and if the optimizer does
  // not support it; then nothing has changed.
  void AddGroup(const ParamGroup& group);

  // Whether the parameter is in one of the groups.
  bool Trains(const at::Tensor& parameter) const;

  // Whether the update of an element depends on nothing but the value, the
  // gradients and the state of that element. Only such an optimizer can update
  // slices of parameters.
  virtual bool element_wise() const { return false; }

  // Updates slices in place of whole parameters from now on, and keeps only
  // their part of the state. Gradients are then those of the slices. Throws
  // c10::ValueError unless element_wise().
  void UseSlices(const std::vector<ParamSlice>& slices);

  // The slices in use, by the name of the parameter.
  const std::map<std::string, ParamSlice>& slices() const { return slices_; }

  // Whether an update can be recorded in a graph (backends/step_graph.h) and
  // replayed.
  virtual bool capturable() const { return false; }
  // Reads the learning rates from tensors of floats on the device from now on,
  // or no longer: in a graph, numbers of the host cannot change. Updates copy
  // them there. REQUIRES: capturable().
  virtual void KeepRatesOnDevice(bool /*keep*/) {}
  // The host's part of an update that is replayed: copies the learning rates to
  // the device, and counts the update. REQUIRES: an update was captured while
  // rates were kept on the device.
  virtual void PrepareReplay() {}

  // Returns all tensors of the state as "<parameter>/<what>", in name order.
  // They share memory with the optimizer. Of a parameter with a slice, tensors
  // with an element per element of the parameter have those of the slice.
  virtual std::vector<NamedTensor> NamedTensors() const = 0;

  // Copies tensors that NamedTensors returned, in this run or an earlier one.
  // Takes tensors of whole parameters also where slices are in use. Throws
  // c10::ValueError, listing all differences, if names or shapes differ; then
  // nothing has changed.
  virtual void LoadTensors(const std::vector<NamedTensor>& tensors);

  // The fields of all groups, which a schedule or a callback may have changed.
  State SaveState() const override;
  void LoadState(const State& state) override;

 protected:
  // The overrides of a group must be among `fields`. Throws c10::ValueError if
  // a value is out of range.
  Optimizer(const std::string& name, const ParamGroups& groups,
            const std::vector<FieldSpec>& fields);

  // Throws c10::ValueError if the optimizer cannot train a group. Called for
  // groups that are added later; a constructor checks its own groups.
  virtual void CheckGroup(size_t, const ParamGroup&) const {}

  // Creates the state of the last group, which was just added.
  virtual void GroupAdded(const ParamGroup& group);

  // Replaces parameters, and their state, by the slices of these wholes. Called
  // only if element_wise().
  using SlicesByWhole = std::unordered_map<const void*, const ParamSlice*>;
  virtual void ReplaceBySlices(const SlicesByWhole& slices);

  // The saved tensors, those of whole parameters cut to the slices in use.
  std::vector<NamedTensor> CutToSlices(
      const std::vector<NamedTensor>& saved) const;

  // The update. Called with gradient recording switched off.
  virtual void Step(const std::optional<at::Tensor>& divisor) = 0;

  // Of StepUnless, during Step. Undefined in other steps.
  const at::Tensor& skip() const { return skip_; }

  const std::string& name() const { return name_; }
  // The values of a group, in the order of the constructor's `fields`. The
  // pointer stays valid.
  const double* fields(size_t group) const;
  // The same when the group was created.
  const double* initial_fields(size_t group) const;

 private:
  void Configure(size_t index, const ParamGroup& group);

  std::string name_;
  std::vector<FieldSpec> specs_;
  std::set<std::string> names_;
  std::vector<std::string> param_names_;
  std::vector<at::Tensor> parameters_;  // same order
  std::map<std::string, ParamSlice> slices_;
  std::vector<at::Tensor> gradients_;
  at::Tensor skip_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_OPTIMIZER_H_
