// What libtorch's optimizers keep where: the numbers of their options and the
// tensors of their state, by name. Private to TorchOptimizer.
//
// Thread-safe: no state.
#ifndef TRAINYARD_TRAINER_OPTIM_TORCH_OPTIMIZER_KINDS_H_
#define TRAINYARD_TRAINER_OPTIM_TORCH_OPTIMIZER_KINDS_H_

#include <ATen/core/Tensor.h>
#include <torch/optim/optimizer.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

// A number of a group's options. Borrows them.
struct TorchOptionField {
  std::string name;
  torch::optim::OptimizerOptions* options;
  // Null where only get_lr and set_lr reach it.
  double* value;

  double Get() const;
  void Set(double number) const;
};

// All fields of SGD, Adam, AdamW, RMSprop and Adagrad; of other classes "lr",
// or nothing if they do not implement get_lr.
std::vector<TorchOptionField> TorchFieldsOf(
    torch::optim::OptimizerOptions& options);

// One parameter's state: its counter of updates, if the class has one, and its
// tensors by name.
struct TorchStateSlots {
  struct Slot {
    const char* name;
    at::Tensor* tensor;
    // Whether an update reads it.
    bool needed = true;
  };
  int64_t* step = nullptr;
  std::vector<Slot> tensors;
};

// A class of libtorch's whose state is known.
struct TorchOptimizerKind {
  std::unique_ptr<torch::optim::OptimizerParamState> (*make)();
  TorchStateSlots (*slots)(torch::optim::OptimizerParamState& state,
                           const torch::optim::OptimizerOptions& options);
};

// Unset for another class, and for one that derives from libtorch's: it may
// have state of its own.
std::optional<TorchOptimizerKind> TorchKindOf(
    const torch::optim::Optimizer& optimizer);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_TORCH_OPTIMIZER_KINDS_H_
