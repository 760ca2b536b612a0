#include "backends/testing/unit_chain.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tanh.h>

#include <algorithm>
#include <string>

#include "backends/sharded/parameter_storage.h"
#include "backends/whole_parameters.h"
#include "trainer/optim/sgd.h"

namespace trainyard {

at::Tensor ChainWave(double phase) {
  constexpr int64_t kSize = UnitChain::kSize;
  return at::arange(kSize * kSize, at::kFloat)
      .add(phase)
      .sin()
      .mul(0.4)
      .reshape({kSize, kSize});
}

UnitChain::UnitChain() : scale(at::full({}, 1.5F).requires_grad_()) {
  for (size_t i = 0; i < kLayers; ++i) {
    weights.push_back(ChainWave(static_cast<double>(i)).requires_grad_());
    units.push_back(std::make_shared<ModelUnit>());
  }
}

ModelTensors UnitChain::Model() const {
  ModelTensors model{"net", {{"scale", scale}}};
  for (size_t i = 0; i < kLayers; ++i) {
    const std::string name = std::to_string(i);
    model.parameters.push_back({name + ".weight", weights[i]});
    model.units.push_back({name, units[i], {weights[i]}});
  }
  return model;
}

at::Tensor UnitChain::Layer(size_t i, const at::Tensor& input) {
  return units[i]->Run(input, [&](const at::Tensor& x) {
    Count();
    const at::Tensor y = at::tanh(x.mm(weights[i].t()));
    if (y.requires_grad()) {
      y.register_hook([this](const at::Tensor&) { Count(); });
    }
    return y;
  });
}

at::Tensor UnitChain::Loss(const at::Tensor& input) {
  at::Tensor x = input;
  for (size_t i = 0; i < kLayers; ++i) x = Layer(i, x);
  return x.mul(scale).square().sum();
}

size_t UnitChain::Whole() const {
  return static_cast<size_t>(std::count_if(
      weights.begin(), weights.end(),
      [](const at::Tensor& weight) { return StorageBytes(weight) > 0; }));
}

void UnitChain::Count() {
  ++counts;
  most = std::max(most, Whole());
}

std::vector<at::Tensor> UnitChain::Parameters() const {
  std::vector<at::Tensor> all = weights;
  all.push_back(scale);
  return all;
}

void StepChain(Backend& backend, UnitChain& chain, Optimizer& optimizer,
               const ChainLoss& loss_of) {
  at::Tensor loss;
  backend.Forward([&] { loss = loss_of(chain, ChainInput()); });
  backend.Backward(loss, {});
  backend.FinishGradients(optimizer);
  backend.Update(optimizer, {});
  optimizer.ZeroGrad();
  backend.EndWindow();
}

std::vector<at::Tensor> TrainChain(Backend& backend, UnitChain& chain,
                                   const ChainLoss& loss_of, int steps) {
  std::vector<at::Tensor> trained;
  for (const at::Tensor& parameter : chain.Parameters()) {
    if (parameter.requires_grad()) trained.push_back(parameter);
  }
  SGD optimizer(trained, {.lr = 0.1, .momentum = 0.5});
  backend.Prepare({chain.Model()});
  for (int step = 0; step < steps; ++step) {
    StepChain(backend, chain, optimizer, loss_of);
  }
  return ChainValues(backend, chain);
}

std::vector<at::Tensor> ChainValues(Backend& backend, const UnitChain& chain) {
  const WholeParameters whole(backend);
  std::vector<at::Tensor> values;
  for (const at::Tensor& parameter : chain.Parameters()) {
    values.push_back(parameter.detach().clone());
  }
  return values;
}

}  // namespace trainyard
