// GraphUnit is a range of a graph's nodes that uses the parameters of one
// layer: the nodes between the first and the last use of parameters whose names
// begin alike, up to the first number ("encoder.3.norm.weight" is of
// "encoder.3"). So an exported model has units (trainer/model/model_unit.h) by
// itself.
//
//   for (const GraphUnit& unit : GraphUnits(graph)) {
//     names.push_back(unit.name);
//   }
//
// Free of libtorch. Thread-safe.
#ifndef TRAINYARD_TRAINER_EXPORTED_GRAPH_UNITS_H_
#define TRAINYARD_TRAINER_EXPORTED_GRAPH_UNITS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/exported/graph.h"

namespace trainyard {

struct GraphUnit {
  std::string name;
  // Its nodes, both included.
  size_t first = 0;
  size_t last = 0;
  // The computed values that it uses, and those of its own that are used later
  // or are outputs of the graph.
  std::vector<size_t> inputs = {};
  std::vector<size_t> outputs = {};
};

// The layer of a tensor of the model. Empty if there is no number in its name.
std::string LayerOfTensor(std::string_view name);

// In the order of the nodes. The ranges do not overlap: of two layers that do
// the longer one, such as one whose weight is tied to another layer, is no
// unit.
std::vector<GraphUnit> GraphUnits(const Graph& graph);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_EXPORTED_GRAPH_UNITS_H_
