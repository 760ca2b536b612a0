// LayerUnits are the units of an exported model: layers whose nodes are
// together in both of its graphs.
//
//   const LayerUnits units(train, eval);
//   GraphProgram program(train, units.In(train));
//   model.units = units.Of(parameters);
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_EXPORTED_LAYER_UNITS_H_
#define TRAINYARD_TRAINER_EXPORTED_LAYER_UNITS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "trainer/exported/graph.h"
#include "trainer/exported/graph_program.h"
#include "trainer/model/model_unit.h"
#include "trainer/model/named_tensor.h"

namespace trainyard {

class LayerUnits {
 public:
  LayerUnits() = default;
  LayerUnits(const Graph& train, const Graph& eval);

  // The units of one of the two graphs.
  std::vector<GraphProgram::Unit> In(const Graph& graph) const;

  // The units with those of the parameters that are theirs, by name.
  std::vector<UnitTensors> Of(const std::vector<NamedTensor>& parameters) const;

 private:
  std::map<std::string, std::shared_ptr<ModelUnit>> units_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_EXPORTED_LAYER_UNITS_H_
