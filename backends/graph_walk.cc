#include "backends/graph_walk.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>

namespace trainyard {

using torch::autograd::Node;

GraphWalk::GraphWalk(const at::Tensor& loss) : loss_(loss) {
  const auto root = torch::autograd::impl::gradient_edge(loss).function;
  std::vector<Node*> open = {root.get()};
  seen_.insert(open.front());
  while (!open.empty()) {
    const Node* const node = open.back();
    open.pop_back();
    for (const torch::autograd::Edge& edge : node->next_edges()) {
      Node* const next = edge.function.get();
      if (next != nullptr && seen_.insert(next).second) open.push_back(next);
    }
  }
}

bool GraphWalk::ReachesAny(const std::vector<at::Tensor>& parameters) const {
  return std::any_of(
      parameters.begin(), parameters.end(), [&](const at::Tensor& parameter) {
        if (parameter.is_same(loss_)) return true;
        const auto end =
            torch::autograd::impl::try_get_grad_accumulator(parameter);
        return end && seen_.contains(end.get());
      });
}

}  // namespace trainyard
