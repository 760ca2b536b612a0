// ModelReducer makes the gradients of one model those of all processes while a
// backward pass computes them: libtorch's c10d::Reducer, which collects them in
// buckets and exchanges a bucket as soon as it is full.
//
//   ModelReducer reducer(group, model, {});
//   reducer.BeforeBackward(loss);         // not within an accumulation window
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
#include "trainer/model/model_tensors.h"

namespace c10d {
class Reducer;
}  // namespace c10d

namespace trainyard {

struct ReducerOptions {
  enum class Compression { kNone, kFp16, kBf16 };

  // Gradients are exchanged in buckets of about this size; the first is smaller
  // so that it starts early. REQUIRES: > 0.
  size_t bucket_bytes = size_t{25} << 20;
  size_t first_bucket_bytes = size_t{1} << 20;
  // For models whose loss does not depend on all parameters in every step. It
  // costs a walk through the graph.
  bool find_unused_parameters = false;
  // For models whose graph is the same in every step: parameters that are used
  // several times or never are learnt in the first one.
  bool static_graph = false;
  // Whether buckets follow the order in which the first pass's gradients came:
  // more overlap for models that compute in another order than they list their
  // parameters. The first pass of a resumed run then adds up in another order
  // than the same pass of one that never stopped, which with more than two
  // processes shows in the last bit.
  bool rebuild_buckets = false;
  // Gradients travel in half precision.
  Compression compression = Compression::kNone;
};

class ModelReducer {
 public:
  // Of the parameters that require a gradient now. Borrows the group.
  // Collective: all ranks must call it.
  ModelReducer(ProcessGroup& group, const ModelTensors& model,
               const ReducerOptions& options);
  ~ModelReducer();
  ModelReducer(const ModelReducer&) = delete;
  ModelReducer& operator=(const ModelReducer&) = delete;

  // Those whose gradients are exchanged.
  const std::vector<at::Tensor>& parameters() const { return parameters_; }

  // Whether which parameters require a gradient has changed.
  bool stale() const;

  // Around the one backward pass that is to exchange gradients. Collective: all
  // ranks must call them.
  void BeforeBackward(const at::Tensor& loss);
  void AfterBackward();

 private:
  ProcessGroup& group_;
  std::vector<at::Tensor> all_parameters_;
  std::vector<bool> required_;
  std::vector<at::Tensor> parameters_;
  ReducerOptions options_;
  bool learns_graph_;
  std::unique_ptr<c10d::Reducer> reducer_;  // none without parameters
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_MODEL_REDUCER_H_
