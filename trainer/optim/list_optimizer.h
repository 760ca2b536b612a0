// ListOptimizer is the base class of optimizers that update many parameters in
// one call. It keeps the parameters, gradients and state of a group in lists
// that are built once. An optimizer adds its options and its formula:
//
//   class Plain final : public ListOptimizer {
//    public:
//     Plain(const ParamGroups& groups, double lr)
//         : ListOptimizer("Plain", groups, {{"lr", lr}}) {}
//
//    private:
//     void Update(Lists& lists) override {
//       at::_foreach_add_(lists.params, lists.grads, -lists.fields[0]);
//     }
//   };
//
// Parameters without a gradient are skipped: their state and their update
// counter do not change. Thread-compatible.
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
  void TakeBackStep() final;

  void KeepRatesOnDevice(bool keep) final;
  void PrepareReplay() final;

 protected:
  using Tensors = std::vector<at::Tensor>;

  // The parameters that one call updates. They have the same group, device,
  // type and number of updates so far.
  struct Lists {
    // The values of the group, in the order of the constructor's `fields`.
    const double* fields = nullptr;
    // The same when the group was created.
    const double* initial = nullptr;
    Tensors params;
    // Update may replace these tensors but must not write to them.
    Tensors grads;
    // One list for each AddState, in that order. Updated in place.
    std::vector<Tensors> state;
    // The counters of AddSteps, including this update, and their value if they
    // are on the CPU.
    Tensors steps;
    double step = 0;
    // Only with kFused: the kernel must divide the gradients by it.
    std::optional<at::Tensor> divisor;
    // Only with kFused, if skips_on_device(): the kernel must change nothing if
    // it is 1.
    std::optional<at::Tensor> skip;
    // Only if capturable(): in place of the first field, which is the learning
    // rate, if it is defined.
    at::Tensor rate;
    // What `rate` has in it; unset: unknown.
    std::optional<double> copied_rate;
  };

  enum class Kernel {
    // Update uses operations that respect strides. Gradients are divided
    // already.
    kForeach,
    // Update uses an ATen kernel that divides the gradients and ignores
    // strides.
    // Gradients have the memory layout of their parameters.
    kFused,
  };

  ListOptimizer(const std::string& name, const ParamGroups& groups,
                const std::vector<FieldSpec>& fields,
                Kernel kernel = Kernel::kForeach);

  // Adds a tensor "<parameter>/<name>" to the state of each parameter: zeros
  // like the parameter, or the result of `make`, which may be undefined for a
  // parameter that needs none. For constructors. The tensors are made before
  // the first update, so that a process that updates slices never has more.
  using MakeState = std::function<at::Tensor(const Lists&, const at::Tensor&)>;
  void AddState(const std::string& name);
  void AddState(const std::string& name, MakeState make);

  // Adds an update counter "<parameter>/step" (a float) to the state of each
  // parameter, on the CPU or on the device of the parameter.
  enum class Counter { kHost, kDevice };
  void AddSteps(Counter where = Counter::kHost);

  // The formula.
  virtual void Update(Lists& lists) = 0;

  // Applies weight decay: reduces the parameters (decoupled) or replaces the
  // gradients by new ones.
  static void Decay(Lists& lists, double lr, double weight_decay,
                    bool decoupled);
  static void DecayIntoGradients(Lists& lists, double weight_decay);
  // Updates Adam's averages of the gradients and of their squares.
  static void UpdateAverages(const Tensors& grads, const Tensors& means,
                             const Tensors& squares, double beta1,
                             double beta2);
  // The value of a float scalar on the CPU, such as a counter.
  static float& HostScalar(const at::Tensor& scalar) {
    return *static_cast<float*>(scalar.data_ptr());
  }

 private:
  void Step(const std::optional<at::Tensor>& divisor) final;
  void GroupAdded(const ParamGroup& group) final;
  void ReplaceBySlices(const SlicesByWhole& slices) final;
  void AddLists(size_t group, const std::vector<NamedTensor>& params);
  // Makes the state that is not there yet.
  void MakeMissingState() const;
  void FillState(Lists& lists, const MakeState& make) const;
  void FillSteps(Lists& lists) const;
  void FollowParameters(Lists& lists) const;
  bool Collect(Lists& lists) const;
  std::vector<std::vector<size_t>> Parts(const Lists& lists) const;
  void Run(Lists& lists, const std::optional<at::Tensor>& divisor);
  void CopyRates();
  // Whether the update of these lists is recorded in a graph and not run.
  static bool IsRecorded(const Lists& lists);

  Kernel kernel_;
  bool rates_on_device_ = false;
  // The counters on the CPU that the recorded update counts.
  Tensors recorded_steps_;
  // Mutable: reading the state makes it.
  mutable std::vector<Lists> lists_;
  std::vector<std::vector<std::string>> param_names_;  // one per list
  std::vector<std::string> state_names_;
  std::vector<MakeState> make_state_;  // one per state name
  std::optional<Counter> counter_;
  // Counters on the host that the last step raised, if it may be skipped.
  Tensors raised_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_LIST_OPTIMIZER_H_
