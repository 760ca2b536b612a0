// GraphWalk finds which parameters a loss depends on.
//
//   if (GraphWalk(loss).ReachesAny(parameters)) …
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_GRAPH_WALK_H_
#define TRAINYARD_BACKENDS_GRAPH_WALK_H_

#include <ATen/core/Tensor.h>

#include <unordered_set>
#include <vector>

namespace trainyard {

class GraphWalk {
 public:
  // Walks the whole graph once. REQUIRES: a tensor that requires a gradient.
  explicit GraphWalk(const at::Tensor& loss);

  bool ReachesAny(const std::vector<at::Tensor>& parameters) const;

 private:
  // Keeps the graph, by whose nodes parameters are known.
  at::Tensor loss_;
  std::unordered_set<const void*> seen_;
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_GRAPH_WALK_H_
