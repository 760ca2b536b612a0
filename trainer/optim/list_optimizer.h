// ListOptimizer is the base of optimizers that update many parameters by one
// call. It keeps parameters, gradients and state of a group side by side in
// lists built once, so that an optimizer is its options and its formula:
//
//   class Plain final : public ListOptimizer {
//    public:
//     Plain(const ParamGroups& groups, double lr)
//         : ListOptimizer("Plain", groups, {{"lr", lr}}) {}
//    private:
//     void Update(Lists& lists) override {
//       at::_foreach_add_(lists.params, lists.grads, -lists.fields[0]);
//     }
//   };
//
// Parameters without a gradient take no part in an update: their state, with
// the counter of their updates, stays as it is. Thread-compatible.
#ifndef TRAINYARD_TRAINER_OPTIM_LIST_OPTIMIZER_H_
#define TRAINYARD_TRAINER_OPTIM_LIST_OPTIMIZER_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trainer/optim/optimizer.h"

namespace trainyard {

class ListOptimizer : public Optimizer {
 public:
  std::vector<NamedTensor> NamedTensors() const final;

 protected:
  using Tensors = std::vector<at::Tensor>;

  // What one call updates: parameters of one group, one device and one type
  // that have made the same number of updates.
  struct Lists {
    // The group's values, in the order of the constructor's `fields`.
    const double* fields = nullptr;
    Tensors params;
    // Update may put other tensors here, but must not write to those it finds.
    Tensors grads;
    // One list for each AddState, in that order; written in place.
    std::vector<Tensors> state;
    // The counters of AddSteps, this update included, and their value if they
    // are on the host.
    Tensors steps;
    double step = 0;
    // Only with kFused: what the kernel has to divide gradients by.
    std::optional<at::Tensor> divisor;
  };

  enum class Kernel {
    // Update uses operations that mind strides; gradients come divided.
    kForeach,
    // Update uses an ATen kernel that divides gradients (and writes them back)
    // and walks through memory: gradients come in their parameters' layout.
    kFused,
  };

  ListOptimizer(const std::string& name, const ParamGroups& groups,
                const std::vector<FieldSpec>& fields,
                Kernel kernel = Kernel::kForeach);

  // Adds a tensor to each parameter's state, named "<parameter>/<name>": zeros
  // like the parameter, or what `make` returns, which may be undefined for
  // parameters that need none. `make` is kept for groups that are added later.
  // For constructors.
  using MakeState = std::function<at::Tensor(const Lists&, const at::Tensor&)>;
  void AddState(const std::string& name);
  void AddState(const std::string& name, MakeState make);

  // Adds a float counter of updates to each parameter's state, named
  // "<parameter>/step": on the host, or beside the parameter where a kernel
  // reads it there.
  enum class Counter { kHost, kDevice };
  void AddSteps(Counter where = Counter::kHost);

  // The formula.
  virtual void Update(Lists& lists) = 0;

  // What formulas share. Weight decay, taken off the parameters (decoupled) or
  // put into new gradients:
  static void Decay(Lists& lists, double lr, double weight_decay,
                    bool decoupled);
  static void DecayIntoGradients(Lists& lists, double weight_decay);
  // Adam's running means of gradients and of their squares.
  static void UpdateAverages(const Tensors& grads, const Tensors& means,
                             const Tensors& squares, double beta1,
                             double beta2);
  // A float scalar on the host, such as a counter.
  static float& HostScalar(const at::Tensor& scalar) {
    return *static_cast<float*>(scalar.data_ptr());
  }

 private:
  void Step(const std::optional<at::Tensor>& divisor) final;
  void GroupAdded(const ParamGroup& group) final;
  void AddLists(size_t group, const std::vector<NamedTensor>& params);
  void FillState(Lists& lists, const MakeState& make) const;
  void FillSteps(Lists& lists) const;
  bool Collect(Lists& lists) const;
  std::vector<std::vector<size_t>> Parts(const Lists& lists) const;
  void Run(Lists& lists, const std::optional<at::Tensor>& divisor);

  Kernel kernel_;
  std::vector<Lists> lists_;
  std::vector<std::vector<std::string>> param_names_;  // as lists_
  std::vector<std::string> state_names_;
  std::vector<MakeState> make_state_;  // as state_names_
  std::optional<Counter> counter_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_LIST_OPTIMIZER_H_
