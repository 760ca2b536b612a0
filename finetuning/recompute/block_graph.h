// BlockGraph is the part of an autograd graph that a block of code has built.
// Its ends are the edges at which gradients leave it: those of the block's
// inputs, of its parameters and of every other tensor from outside.
//
//   const uint64_t start = at::sequence_number::peek();
//   const std::vector<at::Tensor> outputs = block(inputs);
//   BlockGraph graph(outputs, start);
//   const std::vector<at::Tensor> gradients =  // one per edge in graph.ends()
//       graph.Backward({grad}, /*create_graph=*/false);
//
// Thread-compatible: use it on the thread that ran the block.
#ifndef TRAINYARD_FINETUNING_RECOMPUTE_BLOCK_GRAPH_H_
#define TRAINYARD_FINETUNING_RECOMPUTE_BLOCK_GRAPH_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

// Forward-declared, because torch/csrc/autograd/node.h is large.
namespace torch::autograd {
struct Edge;
struct Node;
}  // namespace torch::autograd

namespace trainyard {

class BlockGraph {
 public:
  // The block's own nodes are those that this thread has made since its
  // sequence number was `start`. Outputs without requires_grad add nothing to
  // the graph.
  BlockGraph(const std::vector<at::Tensor>& outputs, uint64_t start);
  ~BlockGraph();
  BlockGraph(const BlockGraph&) = delete;
  BlockGraph& operator=(const BlockGraph&) = delete;

  // In the order in which a walk from the outputs reaches them. The order is
  // the same every time the block runs the same operations.
  const std::vector<torch::autograd::Edge>& ends() const { return ends_; }

  // Returns the gradient at each end (undefined if none arrives) for the given
  // gradient of each output (undefined: zero). Hooks of tensors outside the
  // block do not run: the caller passes the gradients on to them. Without
  // `create_graph` the graph is freed.
  std::vector<at::Tensor> Backward(const std::vector<at::Tensor>& gradients,
                                   bool create_graph);

 private:
  // An edge of a node of the block that leads to an end.
  struct Crossing {
    torch::autograd::Node* node;
    size_t edge;
    size_t end;
  };

  bool Owns(const torch::autograd::Node& node) const;
  size_t EndOf(const torch::autograd::Edge& edge);
  void Walk();

  uint64_t start_;
  uint64_t thread_;
  // One per output; invalid if the output has no gradient.
  std::vector<torch::autograd::Edge> roots_;
  std::vector<torch::autograd::Edge> ends_;
  std::vector<Crossing> crossings_;
};

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_RECOMPUTE_BLOCK_GRAPH_H_
