// Precompiled for files that include modules, c10d or autograd's functions.
#ifndef TOOLS_BUILD_RULES_PRECOMPILED_NN_H_
#define TOOLS_BUILD_RULES_PRECOMPILED_NN_H_

#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include "tools/build_rules/precompiled/tensor.h"

// As in tensor.h.
namespace trainyard::precompiled {

template <typename Module>
void InstantiateClone(const torch::nn::Cloneable<Module>& module) {
  const auto copy = std::dynamic_pointer_cast<Module>(
      module.torch::nn::template Cloneable<Module>::clone(std::nullopt));
  *copy = *copy;
}

template <typename... Layers>
void InstantiateLayers(std::ostream& out, Layers&... layers) {
  (layers.Layers::reset(), ...);
  (layers.Layers::pretty_print(out), ...);
}

template <typename... Values>
void InstantiateAttributes(const Values&... values) {
  ((void)values.Values::clone(), ...);
}

template <typename... Types>
struct TypeList {};

template <typename... Modules, typename... Layers, typename... Values>
void InstantiateModules(TypeList<Modules...>, TypeList<Layers...>,
                        TypeList<Values...>, const torch::nn::Module& module,
                        const torch::jit::AttributeValue& value,
                        torch::nn::Module& layer, std::ostream& out) {
  (InstantiateClone<Modules>(
       dynamic_cast<const torch::nn::Cloneable<Modules>&>(module)),
   ...);
  InstantiateLayers(out, dynamic_cast<Layers&>(layer)...);
  InstantiateAttributes(dynamic_cast<const Values&>(value)...);
}

inline void InstantiateAll(torch::nn::Module& module,
                           const torch::jit::AttributeValue& value,
                           std::ostream& out) {
  using namespace torch::nn;
  InstantiateModules(
      TypeList<BilinearImpl, Conv1dImpl, Conv2dImpl, Conv3dImpl,
               ConvTranspose1dImpl, ConvTranspose2dImpl, ConvTranspose3dImpl,
               CrossMapLRN2dImpl, EmbeddingBagImpl, EmbeddingImpl,
               GroupNormImpl, LayerNormImpl, LinearImpl, LocalResponseNormImpl,
               LogSoftmaxImpl, MultiheadAttentionImpl, SequentialImpl,
               SoftmaxImpl, SoftminImpl, ThresholdImpl, UnflattenImpl>(),
      TypeList<ConvNdImpl<1, Conv1dImpl>, ConvNdImpl<2, Conv2dImpl>,
               ConvNdImpl<3, Conv3dImpl>, ConvNdImpl<1, ConvTranspose1dImpl>,
               ConvNdImpl<2, ConvTranspose2dImpl>,
               ConvNdImpl<3, ConvTranspose3dImpl>,
               ConvTransposeNdImpl<1, ConvTranspose1dImpl>,
               ConvTransposeNdImpl<2, ConvTranspose2dImpl>,
               ConvTransposeNdImpl<3, ConvTranspose3dImpl>>(),
      TypeList<torch::jit::ComplexAttr, torch::jit::ComplexValsAttr,
               torch::jit::FloatsAttr, torch::jit::IntsAttr,
               torch::jit::StringsAttr, torch::jit::TypesAttr>(),
      module, value, module, out);
}

}  // namespace trainyard::precompiled

#endif  // TOOLS_BUILD_RULES_PRECOMPILED_NN_H_
