// BlockGraph is the part of an autograd graph that a block of code has made,
// and where it ends: the nodes from outside that gradients leave it to, which
// are those of its inputs, of the parameters it used and of whatever else it
// took from outside.
//
//   const uint64_t start = at::sequence_number::peek();
//   const std::vector<at::Tensor> outputs = block(inputs);
//   BlockGraph graph(outputs, start);
//   graph.ends();                        // the edges that lead out of it
//   graph.Backward({grad}, false);       // gradients at those, in their order
//
// Thread-compatible: used on the thread that ran the block.
#ifndef TRAINYARD_FINETUNING_RECOMPUTE_BLOCK_GRAPH_H_
#define TRAINYARD_FINETUNING_RECOMPUTE_BLOCK_GRAPH_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

// Whoever looks into them includes torch/csrc/autograd/node.h, which is large.
namespace torch::autograd {
struct Edge;
struct Node;
}  // namespace torch::autograd

namespace trainyard {

class BlockGraph {
 public:
  // Nodes that this thread has made since its sequence number was `start` are
  // the block's own. Outputs that require no gradient have none.
  BlockGraph(const std::vector<at::Tensor>& outputs, uint64_t start);
  ~BlockGraph();
  BlockGraph(const BlockGraph&) = delete;
  BlockGraph& operator=(const BlockGraph&) = delete;

  // In the order that a walk from the outputs meets them, which is the same
  // each time the block does the same.
  const std::vector<torch::autograd::Edge>& ends() const { return ends_; }

  // The gradients that arrive at the ends, undefined where none does, given
  // those of the outputs, undefined where there is none. Hooks of tensors
  // outside do not run: the gradients are still on their way there. Without
  // `create_graph` the graph is used up.
  std::vector<at::Tensor> Backward(const std::vector<at::Tensor>& gradients,
                                   bool create_graph);

 private:
  // An edge of the block's own that leads to an end.
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
  // One for each output; invalid without gradient.
  std::vector<torch::autograd::Edge> roots_;
  std::vector<torch::autograd::Edge> ends_;
  std::vector<Crossing> crossings_;
};

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_RECOMPUTE_BLOCK_GRAPH_H_
