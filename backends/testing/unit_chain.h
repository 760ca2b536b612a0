// UnitChain is a network of layers of which each is a unit, for tests of
// backends that shard parameters. It counts the layers that have memory.
//
//   UnitChain chain;
//   TrainChain(*Fsdp({.keep_after_forward = true}), chain);
//   EXPECT_EQ(chain.most, UnitChain::kLayers);
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_TESTING_UNIT_CHAIN_H_
#define TRAINYARD_BACKENDS_TESTING_UNIT_CHAIN_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "backends/backend.h"
#include "trainer/model/model_tensors.h"
#include "trainer/model/model_unit.h"
#include "trainer/optim/optimizer.h"

namespace trainyard {

// A square matrix. Equal in all processes.
at::Tensor ChainWave(double phase);
inline at::Tensor ChainInput() { return ChainWave(0.7); }

struct UnitChain {
  static constexpr size_t kLayers = 5;
  static constexpr int64_t kSize = 8;

  UnitChain();
  ModelTensors Model() const;

  // Runs one layer, in its unit.
  at::Tensor Layer(size_t i, const at::Tensor& input);
  // Runs all layers.
  at::Tensor Loss(const at::Tensor& input);

  // How many layers have memory now.
  size_t Whole() const;
  std::vector<at::Tensor> Parameters() const;

  // Of every layer.
  std::vector<at::Tensor> weights;
  std::vector<std::shared_ptr<ModelUnit>> units;
  // A parameter that is in no unit.
  at::Tensor scale;
  // Counted in each layer, forward and backward: how often, and the most layers
  // that had memory.
  size_t counts = 0;
  size_t most = 0;

 private:
  void Count();
};

using ChainLoss = std::function<at::Tensor(UnitChain&, const at::Tensor&)>;
inline at::Tensor PlainChainLoss(UnitChain& chain, const at::Tensor& input) {
  return chain.Loss(input);
}

// A forward and a backward pass and an update.
void StepChain(Backend& backend, UnitChain& chain, Optimizer& optimizer,
               const ChainLoss& loss_of = PlainChainLoss);

// Trains what requires a gradient by SGD. Returns all parameters.
std::vector<at::Tensor> TrainChain(Backend& backend, UnitChain& chain,
                                   const ChainLoss& loss_of = PlainChainLoss,
                                   int steps = 3);

// Copies of the whole parameters.
std::vector<at::Tensor> ChainValues(Backend& backend, const UnitChain& chain);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_TESTING_UNIT_CHAIN_H_
