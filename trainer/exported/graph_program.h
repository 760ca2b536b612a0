// GraphProgram runs a graph: every operator is looked up once, constants are
// made once, and a value is let go of at its last use. Each call goes through
// libtorch's dispatcher, so that autograd, autocast and devices treat it as any
// other call of the operator.
//
//   const GraphProgram program(graph);
//   const std::vector<at::Tensor> outputs = program.Run({weight, x}, at::kCPU);
//
// Thread-safe, as far as the tensors are.
#ifndef TRAINYARD_TRAINER_EXPORTED_GRAPH_PROGRAM_H_
#define TRAINYARD_TRAINER_EXPORTED_GRAPH_PROGRAM_H_

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "trainer/exported/graph.h"
#include "trainer/exported/graph_units.h"
#include "trainer/model/model_unit.h"

namespace c10 {
struct IValue;
}  // namespace c10

namespace trainyard {

class GraphProgram {
 public:
  // A range of nodes that is run as a unit.
  struct Unit {
    GraphUnit range;
    std::shared_ptr<ModelUnit> unit;
  };

  // Throws c10::ValueError, naming the node, for an operator that libtorch does
  // not have, or that does not take such arguments. `units` are in the order of
  // their nodes.
  explicit GraphProgram(Graph graph, std::vector<Unit> units = {});
  GraphProgram(GraphProgram&&) noexcept;
  ~GraphProgram();

  // `inputs` as the graph has them; new tensors are made on `device`. What an
  // operator throws names the node. REQUIRES: as many as the graph has.
  std::vector<at::Tensor> Run(std::vector<at::Tensor> inputs,
                              at::Device device) const;

 private:
  struct Step;

  // Runs the nodes from `index`, which counts them, up to `end`.
  void RunSteps(size_t end, std::vector<c10::IValue>& values, at::Device device,
                size_t& index) const;

  Graph graph_;
  std::vector<Step> steps_;
  std::vector<Unit> units_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_EXPORTED_GRAPH_PROGRAM_H_
