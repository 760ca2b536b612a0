// Backend runs one training step on hardware: on a device, in a precision, over
// one or several processes. The loop above it is the same for all backends.
//
//   const std::unique_ptr<Backend> backend = MakeBackend("sp");
//   backend->Prepare(models);
//
// A step makes these calls in this order: Forward and Backward once per batch,
// the others once per accumulation window, after its last batch.
//
//   backend->Forward([&] { loss = task(batch); });
//   backend->Backward(loss, {.share = share, .sync = last, .weight = total});
//   const double weight = backend->FinishGradients(optimizer);
//   const bool updated = backend->Update(optimizer, {.clip = ClipNorm(1)});
//   optimizer.ZeroGrad();
//   backend->EndWindow();
//
// To add something to any backend, derive from BackendDecorator. A call that is
// collective must be made by all ranks, in the same order. Thread-compatible.
#ifndef TRAINYARD_BACKENDS_BACKEND_H_
#define TRAINYARD_BACKENDS_BACKEND_H_

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/util/FunctionRef.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/collectives.h"
#include "trainer/model/model_tensors.h"
#include "trainer/model/tensor_slice.h"
#include "trainer/optim/clip.h"
#include "trainer/optim/optimizer.h"
#include "trainer/state.h"

namespace trainyard {

struct BackwardOptions {
  // The factor of the loss.
  double share = 1;
  // Whether this pass averages the gradients over all ranks. Set it for the
  // last batch of an accumulation window; before that, gradients only add up
  // on this rank.
  bool sync = true;
  // Read only with `sync`: the total weight of this rank's window.
  // FinishGradients returns the mean over all ranks.
  double weight = 1;
  // A further factor of the loss, a scalar on the device. Undefined: none.
  at::Tensor scale = {};
};

struct UpdateOptions {
  // The gradients are divided by it first. REQUIRES: > 0.
  double divisor = 1;
  // Applied to the divided gradients.
  Clip clip = {};
  // The step is skipped if this is 1, a float scalar on the device. Undefined:
  // it is not skipped. REQUIRES: the optimizer's skips_on_device().
  at::Tensor skip = {};
};

class Backend : public Stateful {
 public:
  // As MakeBackend takes it.
  virtual const std::string& name() const = 0;
  virtual at::Device device() const = 0;
  virtual Collectives& collectives() const = 0;

  int64_t rank() const { return collectives().rank(); }
  int64_t num_processes() const { return collectives().num_processes(); }

  // Prepares these models for training; they must be on the device already.
  // Copies rank 0's tensors to all other ranks. Call it again after
  // requires_grad of a parameter has changed. Collective.
  virtual void Prepare(const std::vector<ModelTensors>& models) = 0;

  // Prepares an optimizer of prepared models, before its state is loaded or
  // used: a backend that shards lets it keep and update only this rank's slices
  // of the parameters. FinishGradients does it for an optimizer, or a group of
  // it, that was not prepared. Throws c10::ValueError for an optimizer that
  // cannot be sharded.
  virtual void PrepareOptimizer(Optimizer& /*optimizer*/) {}

  // Whether this rank has only its slices of an optimizer's gradients: what is
  // computed over all of them must be combined over the ranks.
  virtual bool shards_gradients() const { return false; }

  // Whether Forward and Backward gather parameters, and are collective. Then
  // every rank follows each Forward that records gradients by Backward or
  // BackwardWithoutBatch, with or without `sync`.
  virtual bool shards_parameters() const { return false; }

  // The slice of a model's parameter that this rank holds, with an empty name.
  // Unset if every rank holds the whole parameter.
  virtual std::optional<TensorSlice> HeldSlice(
      const at::Tensor& /*parameter*/) const {
    return std::nullopt;
  }

  // Makes the parameters of all models whole on all ranks, until Release is
  // called as often. For what reads or writes parameters outside of Forward and
  // Backward; values written to them are lost unless ParametersLoaded is called
  // before. Collective.
  virtual void GatherParameters() {}
  virtual void ReleaseParameters() {}

  // Call it after values were copied into the parameters by anything but
  // Update, e.g. from a checkpoint. Where slices are held: into these, or,
  // between GatherParameters and ReleaseParameters, into whole parameters, the
  // same values on all ranks.
  virtual void ParametersLoaded() {}

  // Returns the weight that all ranks normalise by: the largest of the weights
  // that the ranks pass, fixed for the whole run once it is above 0. Pass the
  // weight of this rank's batch, or 0 if it has none. Returns 0 as long as all
  // ranks pass 0. Collective.
  virtual double ReferenceWeight(double weight) = 0;

  // Calls `pass`, a forward pass, in the backend's precision.
  virtual void Forward(c10::function_ref<void()> pass) = 0;

  // Adds the gradients of share * loss to the parameters' gradients. Throws
  // c10::ValueError unless the loss is a scalar with a gradient function. With
  // `sync` collective: each rank calls it or BackwardWithoutBatch.
  virtual void Backward(const at::Tensor& loss,
                        const BackwardOptions& options) = 0;

  // For a rank that has no batch while others call Backward: takes part in
  // their exchange and adds nothing to the gradients. With `sync` collective.
  virtual void BackwardWithoutBatch(const BackwardOptions& options) = 0;

  // Completes the gradients of a window: averaged over all ranks, in full
  // precision. They may be read and changed afterwards. Returns the mean of
  // the ranks' weights. Collective.
  virtual double FinishGradients(Optimizer& optimizer) = 0;

  // Divides and clips the gradients, and steps the optimizer. Returns false if
  // the step was skipped because a gradient is not finite; only a backend that
  // scales losses checks for it. It may leave that to the device, and returns
  // true: see outcome_is_open.
  virtual bool Update(Optimizer& optimizer, const UpdateOptions& options) = 0;

  // Whether only the device knows so far if the last Update of the optimizer
  // took place.
  virtual bool outcome_is_open(const Optimizer& /*optimizer*/) const {
    return false;
  }
  // Returns whether it took place. A window later the answer is there, and the
  // host need not wait for the device. REQUIRES: outcome_is_open().
  virtual bool ReadOutcome(Optimizer& /*optimizer*/) { return true; }

  // Whether a step can be captured as a graph and replayed: Forward, Backward
  // and Update launch the same work for every batch of a shape, wait for
  // nothing and use no number of the host that changes. What FinishGradients
  // and EndWindow do is not captured.
  virtual bool capturable() const { return false; }

  // Ends a window, after all of its optimizers were updated. Collective.
  virtual void EndWindow() = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_BACKEND_H_
