// ModelUnit is a part of a model whose parameters are used together, such as a
// block of layers. A backend that shards parameters (fsdp) has them whole only
// while the unit computes. A module is declared a unit by a base class:
//
//   struct BlockImpl : torch::nn::Module, UnitModule {
//     at::Tensor forward(const at::Tensor& input) {
//       return unit()->Run(
//           input, [&](const at::Tensor& x) { return linear(x).relu(); });
//     }
//     torch::nn::Linear linear{register_module("linear", …)};
//   };
//
// Under other backends Run only calls its function. Thread-compatible.
#ifndef TRAINYARD_TRAINER_MODEL_MODEL_UNIT_H_
#define TRAINYARD_TRAINER_MODEL_MODEL_UNIT_H_

#include <ATen/core/Tensor.h>
#include <c10/util/FunctionRef.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace trainyard {

class ModelUnit;

// Is told when a forward pass enters and leaves units. A backend implements it.
class UnitWatcher {
 public:
  virtual ~UnitWatcher() = default;
  virtual void Enter(const ModelUnit& unit,
                     const std::vector<at::Tensor>& inputs) = 0;
  // No outputs: the unit failed, or nothing is differentiated through it.
  virtual void Leave(const ModelUnit& unit,
                     const std::vector<at::Tensor>& outputs) = 0;
};

class ModelUnit {
 public:
  ModelUnit() = default;
  ModelUnit(const ModelUnit&) = delete;
  ModelUnit& operator=(const ModelUnit&) = delete;

  // Calls `pass`, which computes with the parameters of the unit. Outside of it
  // nothing may: not even with a parameter that it returns.
  at::Tensor Run(const at::Tensor& input,
                 c10::function_ref<at::Tensor(const at::Tensor&)> pass) const;
  // The same for any numbers of inputs and outputs.
  std::vector<at::Tensor> Run(
      const std::vector<at::Tensor>& inputs,
      c10::function_ref<std::vector<at::Tensor>()> pass) const;

  // The two halves of Run, for a pass that is no function.
  void Enter(const std::vector<at::Tensor>& inputs) const;
  void Leave(const std::vector<at::Tensor>& outputs) const;

  // From now on this one is told, as long as it lives.
  void Watch(std::weak_ptr<UnitWatcher> watcher) {
    watcher_ = std::move(watcher);
  }

 private:
  std::weak_ptr<UnitWatcher> watcher_;
};

// A unit of a model, and its parameters. Those of a unit within it are not
// among them, and no parameter is in two units: one that is used by several, or
// also outside, is in none.
struct UnitTensors {
  std::string name;
  std::shared_ptr<ModelUnit> unit;
  std::vector<at::Tensor> parameters;
};

// The base class of a torch::nn::Module that is a unit. A copy of the module is
// a unit of its own.
class UnitModule {
 public:
  UnitModule() = default;
  UnitModule(const UnitModule&) {}
  UnitModule& operator=(const UnitModule&) { return *this; }
  virtual ~UnitModule() = default;

  const std::shared_ptr<ModelUnit>& unit() const { return unit_; }

 private:
  std::shared_ptr<ModelUnit> unit_ = std::make_shared<ModelUnit>();
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_MODEL_MODEL_UNIT_H_
