// ModelReducer averages the gradients of one model over all ranks while a
// backward pass computes them: by a SharedReducer if the ranks share memory,
// else by libtorch's c10d::Reducer. Both collect gradients in buckets and
// exchange a bucket as soon as it is full.
//
//   ModelReducer reducer(group, model, {});
//   reducer.BeforeBackward(loss);  // for the last batch of a window only
//   loss.backward();
//   reducer.AfterBackward();
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_MODEL_REDUCER_H_
#define TRAINYARD_BACKENDS_MODEL_REDUCER_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/processes/process_group.h"
#include "backends/shared_reducer.h"
#include "trainer/model/model_tensors.h"

namespace c10d {
class Reducer;
}  // namespace c10d

namespace trainyard {

struct ReducerOptions {
  enum class Compression { kNone, kFp16, kBf16 };

  // Gradients are exchanged in buckets of about this size. The first is smaller
  // so that its exchange starts early. REQUIRES: > 0.
  size_t bucket_bytes = size_t{25} << 20;
  size_t first_bucket_bytes = size_t{1} << 20;
  // For models whose loss does not depend on all parameters in every step.
  // Costs a walk through the graph.
  bool find_unused_parameters = false;
  // For models whose graph is the same in every step: the first step finds out
  // which parameters are used several times or not at all.
  bool static_graph = false;
  // Whether buckets follow the order in which the first pass computed the
  // gradients. This gives more overlap for models that compute in another order
  // than they list their parameters. But a resumed run sums in another order
  // than an uninterrupted one in its first pass: with more than two ranks the
  // last bit may differ.
  bool rebuild_buckets = false;
  // Sends gradients in half precision.
  Compression compression = Compression::kNone;
};

class ModelReducer {
 public:
  // For the parameters that require a gradient now. Borrows the group.
  // Collective.
  ModelReducer(ProcessGroup& group, const ModelTensors& model,
               const ReducerOptions& options);
  ~ModelReducer();
  ModelReducer(const ModelReducer&) = delete;
  ModelReducer& operator=(const ModelReducer&) = delete;

  // The parameters whose gradients are exchanged.
  const std::vector<at::Tensor>& parameters() const { return parameters_; }

  // Whether requires_grad of a parameter has changed since.
  bool stale() const;

  // Called before and after the backward pass that exchanges gradients.
  // Collective.
  void BeforeBackward(const at::Tensor& loss);
  void AfterBackward();

 private:
  ProcessGroup& group_;
  std::vector<at::Tensor> all_parameters_;
  std::vector<bool> required_;
  std::vector<at::Tensor> parameters_;
  ReducerOptions options_;
  bool learns_graph_;
  // At most one of them; none without parameters.
  std::unique_ptr<SharedReducer> shared_;
  std::unique_ptr<c10d::Reducer> reducer_;
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_MODEL_REDUCER_H_
