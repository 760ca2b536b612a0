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

#include <memory>
#include <vector>

#include "trainer/exported/graph.h"

namespace trainyard {

class GraphProgram {
 public:
  // Throws c10::ValueError, naming the node, for an operator that libtorch does
  // not have, or that does not take such arguments.
  explicit GraphProgram(Graph graph);
  GraphProgram(GraphProgram&&) noexcept;
  ~GraphProgram();

  // `inputs` as the graph has them; new tensors are made on `device`. What an
  // operator throws names the node. REQUIRES: as many as the graph has.
  std::vector<at::Tensor> Run(std::vector<at::Tensor> inputs,
                              at::Device device) const;

 private:
  struct Step;

  Graph graph_;
  std::vector<Step> steps_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_EXPORTED_GRAPH_PROGRAM_H_
