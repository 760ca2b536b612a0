// Backend is how one step runs on hardware: on which device, in which
// precision, over how many processes. The loop above it is the same for all.
//
//   const std::unique_ptr<Backend> backend = MakeBackend("sp");
//
// A step, in this order, Backward once per batch and the rest at a window's
// end:
//
//   backend->Forward([&] { loss = task(batch); });
//   backend->Backward(loss, share);
//   backend->FinishGradients(optimizer);
//   const bool updated = backend->Update(optimizer, {.divisor = …, .clip =
//   ClipNorm(1)});
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_BACKEND_H_
#define TRAINYARD_BACKENDS_BACKEND_H_

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/util/FunctionRef.h>

#include <cstdint>
#include <string>

#include "trainer/optim/clip.h"
#include "trainer/optim/optimizer.h"

namespace trainyard {

struct UpdateOptions {
  // What the gradients are divided by before anything else. REQUIRES: > 0.
  double divisor = 1;
  // Applied to the divided gradients.
  Clip clip = {};
};

class Backend {
 public:
  virtual ~Backend() = default;

  // As MakeBackend takes it.
  virtual const std::string& name() const = 0;
  virtual at::Device device() const = 0;

  // This process among those that train together.
  virtual int64_t rank() const = 0;
  virtual int64_t num_processes() const = 0;

  // Calls `pass` with what a forward pass needs around it.
  virtual void Forward(c10::function_ref<void()> pass) = 0;

  // Adds the gradients of share * loss. REQUIRES: a scalar loss with a gradient
  // function.
  virtual void Backward(const at::Tensor& loss, double share) = 0;

  // Makes the gradients those of all processes, in full precision. They may be
  // read and changed after it. Collective: all ranks must call it.
  virtual void FinishGradients(Optimizer& optimizer) = 0;

  // Divides, clips, steps. Returns false if the step was skipped because a
  // gradient is not finite and the backend can tell.
  virtual bool Update(Optimizer& optimizer, const UpdateOptions& options) = 0;

  // Adds up over all processes, in place. Collective: all ranks must call it.
  virtual void Sum(at::Tensor& tensor) = 0;

  // Whether any process says so. Collective: all ranks must call it.
  virtual bool Any(bool here) = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_BACKEND_H_
