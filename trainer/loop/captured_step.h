// CapturedStep trains by graphs (backends/step_graph.h). After some steps on
// batches of one shape it records the forward and the backward pass as a graph,
// and the update of each optimizer as another. For every later batch of that
// shape it copies the batch into the graph's inputs and replays them: the host
// launches a few graphs in place of every kernel.
//
//   CapturedStep captured({task, {&optimizer}, backend}, /*warmup_steps=*/3);
//   const OwnStream stream(backend.device());
//   StepRunner runner({.task = task,
//                      .optimizers = {&optimizer},
//                      .backend = backend,
//                      .callbacks = handler,
//                      .clock = clock,
//                      .captured = &captured},
//                     ClipNorm(1));
//   runner.Run(batch, /*batches_left=*/1);
//
// A batch of another shape is trained on without the graphs. So is every batch
// after memory or requires_grad of a parameter has changed, until the step was
// captured again. An optimizer that is not capturable() updates without a
// graph. Learning rates are read from the device, as floats, as long as this
// object lives; after a change of another field, the update is captured again.
//
// Thread-compatible. Borrows its parts.
#ifndef TRAINYARD_TRAINER_LOOP_CAPTURED_STEP_H_
#define TRAINYARD_TRAINER_LOOP_CAPTURED_STEP_H_

#include <ATen/core/Tensor.h>
#include <c10/util/FunctionRef.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/backend.h"
#include "backends/step_graph.h"
#include "trainer/data/batch.h"
#include "trainer/optim/clip.h"
#include "trainer/optim/optimizer.h"
#include "trainer/task.h"

namespace trainyard {

class CapturedStep {
 public:
  struct Parts {
    Task& task;
    std::vector<Optimizer*> optimizers;
    Backend& backend;
  };

  // Throws c10::ValueError if steps on this backend cannot be captured.
  // REQUIRES: warmup_steps >= 1.
  CapturedStep(Parts parts, int64_t warmup_steps);
  ~CapturedStep();
  CapturedStep(const CapturedStep&) = delete;
  CapturedStep& operator=(const CapturedStep&) = delete;

  // Computes loss and gradients of the batch by the graph, which is captured
  // first if it is time: `passes` runs both passes on the given inputs and
  // returns their output. The returned tensors are copies. Unset: the caller
  // runs the passes. Throws c10::ValueError for passes that cannot be captured.
  using Passes = c10::function_ref<StepOutput(const AnyBatch& inputs)>;
  std::optional<StepOutput> RunPasses(const AnyBatch& batch, Passes passes);

  // Backend::Update, by a graph if RunPasses used one for this step.
  bool Update(Optimizer& optimizer, const UpdateOptions& options);

  // The weight of a batch that the caller has run. Throws c10::ValueError if
  // batches of the captured shape differ in it: a replay repeats it.
  void CheckWeight(double weight);

 private:
  struct BatchShape {
    std::string layout;
    std::vector<std::vector<int64_t>> sizes;
    std::vector<at::ScalarType> types;
    int64_t records = 0;
    int64_t padding = 0;
    friend bool operator==(const BatchShape&, const BatchShape&) = default;
  };
  struct CapturedUpdate {
    std::unique_ptr<StepGraph> graph;
    // All fields but the learning rates.
    std::vector<double> fields;
    double divisor = 1;
    Clip clip = {};
    bool updated = false;
  };

  static BatchShape ShapeOf(const AnyBatch& batch);
  // Where the tensors of the models are, and which are trained.
  std::vector<std::pair<const void*, bool>> Places() const;
  // Drops the graphs, to warm up again for batches of the shape.
  void StartOver(BatchShape shape);
  void CapturePasses(const AnyBatch& batch, Passes passes);
  void CaptureUpdate(Optimizer& optimizer, const UpdateOptions& options);
  StepOutput Replay(const AnyBatch& batch);
  void SayOnce(const std::string& what);

  Parts parts_;
  const int64_t warmup_steps_;
  // Of the models.
  std::vector<at::Tensor> tensors_;
  std::vector<std::pair<const void*, bool>> places_;

  // Of the shape that is or will be captured.
  std::optional<BatchShape> shape_;
  int64_t warm_ = 0;
  std::optional<double> weight_;
  bool same_shape_ = false;  // of the current batch
  bool replayed_ = false;    // in the current step

  std::optional<AnyBatch> inputs_;
  StepOutput output_;
  std::vector<std::pair<at::Tensor, at::Tensor>> gradients_;  // by parameter
  std::unique_ptr<StepGraph> passes_;
  std::map<const Optimizer*, CapturedUpdate> updates_;
  std::vector<std::string> said_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_LOOP_CAPTURED_STEP_H_
