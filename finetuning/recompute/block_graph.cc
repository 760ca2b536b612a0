#include "finetuning/recompute/block_graph.h"

#include <ATen/record_function.h>
#include <torch/csrc/autograd/edge.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/input_metadata.h>
#include <torch/csrc/autograd/node.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <limits>
#include <unordered_set>
#include <utility>

namespace trainyard {
namespace {

using torch::autograd::Edge;
using torch::autograd::edge_list;
using torch::autograd::InputMetadata;
using torch::autograd::Node;
using torch::autograd::variable_list;

// Replaces the ends while the gradients of the block are computed.
class Catcher final : public Node {
 public:
  explicit Catcher(const edge_list& ends) {
    for (const Edge& end : ends) {
      const InputMetadata& like = end.function->input_metadata(end.input_nr);
      if (like.was_default_constructed()) {
        add_input_metadata(undefined_input());
      } else {
        add_input_metadata(like.options(), like.shape_as_dim_vector(),
                           like.is_tensor_subclass(), like.is_nested_tensor(),
                           like.grad_dtype());
      }
    }
  }

  // The engine captures the incoming gradient and stops here.
  variable_list apply(variable_list&&) override { return {}; }
};

}  // namespace

BlockGraph::BlockGraph(const std::vector<at::Tensor>& outputs, uint64_t start)
    : start_(start), thread_(at::RecordFunction::currentThreadId()) {
  for (const at::Tensor& output : outputs) {
    roots_.push_back(output.requires_grad()
                         ? torch::autograd::impl::gradient_edge(output)
                         : Edge());
  }
  Walk();
}

BlockGraph::~BlockGraph() = default;

bool BlockGraph::Owns(const Node& node) const {
  // Leaf nodes have the highest sequence number.
  return node.sequence_nr() >= start_ &&
         node.sequence_nr() != std::numeric_limits<uint64_t>::max() &&
         node.thread_id() == thread_;
}

size_t BlockGraph::EndOf(const Edge& edge) {
  const auto found = std::find(ends_.begin(), ends_.end(), edge);
  if (found != ends_.end()) return static_cast<size_t>(found - ends_.begin());
  ends_.push_back(edge);
  return ends_.size() - 1;
}

void BlockGraph::Walk() {
  std::vector<Node*> open;
  std::unordered_set<const Node*> seen;
  const auto visit = [&](const Edge& edge) {
    Node* const node = edge.function.get();
    if (seen.insert(node).second) open.push_back(node);
  };
  for (const Edge& root : roots_) {
    if (!root.is_valid()) continue;
    if (Owns(*root.function)) {
      visit(root);
    } else {
      EndOf(root);
    }
  }
  while (!open.empty()) {
    Node* const node = open.back();
    open.pop_back();
    for (size_t i = 0; i < node->next_edges().size(); ++i) {
      const Edge& next = node->next_edge(i);
      if (!next.is_valid()) continue;
      if (Owns(*next.function)) {
        visit(next);
      } else {
        crossings_.push_back({node, i, EndOf(next)});
      }
    }
  }
}

std::vector<at::Tensor> BlockGraph::Backward(
    const std::vector<at::Tensor>& gradients, bool create_graph) {
  const auto catcher = c10::make_intrusive<Catcher>(ends_);
  const auto caught_at = [&](size_t end) {
    return Edge(catcher, static_cast<uint32_t>(end));
  };
  edge_list roots;
  variable_list inputs;
  for (size_t i = 0; i < roots_.size(); ++i) {
    if (!roots_[i].is_valid() || !gradients[i].defined()) continue;
    roots.push_back(Owns(*roots_[i].function) ? roots_[i]
                                              : caught_at(EndOf(roots_[i])));
    inputs.push_back(gradients[i]);
  }
  if (roots.empty() || ends_.empty()) return variable_list(ends_.size());
  for (const Crossing& crossing : crossings_) {
    crossing.node->next_edges()[crossing.edge] = caught_at(crossing.end);
  }
  edge_list caught;
  for (size_t i = 0; i < ends_.size(); ++i) caught.push_back(caught_at(i));
  variable_list result = torch::autograd::Engine::get_default_engine().execute(
      roots, inputs, /*keep_graph=*/create_graph, create_graph,
      /*accumulate_grad=*/false, caught);
  // Second derivatives continue from where the gradients were captured.
  for (const Crossing& crossing : crossings_) {
    crossing.node->next_edges()[crossing.edge] = ends_[crossing.end];
  }
  return result;
}

}  // namespace trainyard
