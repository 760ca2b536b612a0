// Backend is how one step runs on hardware: on which device, in which
// precision, over how many processes. The loop above it is the same for all.
//
//   const std::unique_ptr<Backend> backend = MakeBackend("sp");
//   backend->Prepare(models);
//
// A step, in this order; Forward and Backward once per batch, the rest at the
// end of an accumulation window:
//
//   backend->Forward([&] { loss = task(batch); });
//   backend->Backward(loss, {.share = …, .sync = …, .weight = …});
//   const double weight = backend->FinishGradients(optimizer);
//   const bool updated = backend->Update(optimizer, {.clip = ClipNorm(1)});
//   optimizer.ZeroGrad();
//   backend->EndWindow();
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_BACKEND_H_
#define TRAINYARD_BACKENDS_BACKEND_H_

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/util/FunctionRef.h>

#include <cstdint>
#include <string>
#include <vector>

#include "backends/collectives.h"
#include "trainer/model/model_tensors.h"
#include "trainer/optim/clip.h"
#include "trainer/optim/optimizer.h"
#include "trainer/state.h"

namespace trainyard {

struct BackwardOptions {
  // What the loss is multiplied by.
  double share = 1;
  // Whether the gradients become the mean of all processes' with this pass. Not
  // before the last batch of an accumulation window: there they only add up.
  bool sync = true;
  // With `sync`: what this process's gradients weigh. FinishGradients returns
  // the mean of all processes'.
  double weight = 1;
};

struct UpdateOptions {
  // What the gradients are divided by before anything else. REQUIRES: > 0.
  double divisor = 1;
  // Applied to the divided gradients.
  Clip clip = {};
};

class Backend : public Stateful {
 public:
  // As MakeBackend takes it.
  virtual const std::string& name() const = 0;
  virtual at::Device device() const = 0;
  virtual Collectives& collectives() const = 0;

  // This process among those that train together.
  int64_t rank() const { return collectives().rank(); }
  int64_t num_processes() const { return collectives().num_processes(); }

  // Makes ready to train these models, on the device already: rank 0's tensors
  // are copied to all others. Again, whenever which parameters require a
  // gradient has changed. Collective: all ranks must call it.
  virtual void Prepare(const std::vector<ModelTensors>& models) = 0;

  // Returns the weight that all ranks take the shares of a window of. Pass the
  // weight of this rank's first batch that weighs something, or 0. With several
  // ranks it is the largest of all ranks, fixed for the whole run from the
  // first that is not 0; 0 if no rank has weight yet. Collective: all ranks
  // must call it.
  virtual double ReferenceWeight(double weight) = 0;

  // Calls `pass` with what a forward pass needs around it.
  virtual void Forward(c10::function_ref<void()> pass) = 0;

  // Adds the gradients of share * loss. REQUIRES: a scalar loss with a gradient
  // function. Collective, if it syncs: all ranks must call it, or
  // BackwardWithoutBatch.
  virtual void Backward(const at::Tensor& loss,
                        const BackwardOptions& options) = 0;

  // Takes part in what Backward of the other processes does, for one that has
  // no batch left: adds nothing to any gradient.
  virtual void BackwardWithoutBatch(const BackwardOptions& options) = 0;

  // Makes the gradients of a window complete: those of all processes, in full
  // precision. They may be read and changed after it. Returns the mean of the
  // processes' weights. Collective: all ranks must call it.
  virtual double FinishGradients(Optimizer& optimizer) = 0;

  // Divides, clips, steps. Returns false if the step was skipped because a
  // gradient is not finite and the backend can tell.
  virtual bool Update(Optimizer& optimizer, const UpdateOptions& options) = 0;

  // All optimizers of a window have been updated. Collective: all ranks must
  // call it.
  virtual void EndWindow() = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_BACKEND_H_
