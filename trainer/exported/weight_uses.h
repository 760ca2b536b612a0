// WeightUse says how a graph computes with one of the model's parameters: as
// the weight of a linear layer, a convolution or an embedding. Lora adapts
// such weights.
//
//   for (const WeightUse& use : WeightUses(graph)) {
//     uses.push_back(use.parameter + ": " + use.op);
//   }
//
// Free of libtorch. Thread-safe.
#ifndef TRAINYARD_TRAINER_EXPORTED_WEIGHT_USES_H_
#define TRAINYARD_TRAINER_EXPORTED_WEIGHT_USES_H_

#include <string>
#include <vector>

#include "trainer/exported/graph.h"

namespace trainyard {

struct WeightUse {
  // The parameter's name, e.g. "encoder.0.weight".
  std::string parameter;
  // "aten::linear", "aten::conv2d" or "aten::embedding".
  std::string op;
};

// In the order of the graph's nodes, each parameter once, with its first use.
// Convolutions with groups or dilation are left out.
std::vector<WeightUse> WeightUses(const Graph& graph);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_EXPORTED_WEIGHT_USES_H_
