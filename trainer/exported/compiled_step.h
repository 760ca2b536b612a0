// CompiledStep computes the loss of a batch and all gradients by a library that
// tools/convert/export_model.py --compile made: without Python, and without
// autograd between the layers.
//
//   auto model = OrThrow(LoadExported("net.safetensors"));
//   auto step = OrThrow(LoadCompiledStep("net.pt2", model));
//   step->Run({images, labels}).loss.backward();
//   optimizer.step();
//
// The loss is an ordinary tensor with a gradient function, so that
// accumulation, gradient scaling and DDP treat it as any other loss. The update
// is done by the optimizer. compiled_task.h is the ready task.
//
// A library is a program: load only what you made. Thread-compatible. Shares
// the model's tensors.
#ifndef TRAINYARD_TRAINER_EXPORTED_COMPILED_STEP_H_
#define TRAINYARD_TRAINER_EXPORTED_COMPILED_STEP_H_

#include <ATen/core/Tensor.h>
#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <vector>

#include "trainer/model/model.h"

namespace trainyard {

class CompiledStep {
 public:
  struct Output {
    at::Tensor loss;
    // Of the model, without gradients.
    std::vector<at::Tensor> outputs;
  };

  // A loaded library. Private to LoadCompiledStep.
  struct Parts;
  explicit CompiledStep(std::unique_ptr<Parts> parts);
  ~CompiledStep();

  // The model's inputs, then the targets.
  std::vector<std::string> InputNames() const;

  // Whether the library was compiled for inputs of these types and sizes.
  bool Takes(const std::vector<at::Tensor>& inputs) const;

  // Also updates the model's buffers, as its training graph does. Throws
  // c10::ValueError for inputs that it does not take, for a model that is not
  // on the CPU in the types that were exported, under autocast, and if a
  // parameter requires a gradient that the library does not compute.
  Output Run(const std::vector<at::Tensor>& inputs);

 private:
  std::unique_ptr<Parts> parts_;
};

// `model` has all parameters and buffers that the library takes, by their
// Python names: it may be an ExportedModel or a torch::nn twin. NotFound,
// DataLoss or FailedPrecondition, with the path; the last, with the command
// that compiles it again, for a library that was made for another version of
// libtorch or another processor.
absl::StatusOr<std::shared_ptr<CompiledStep>> LoadCompiledStep(
    const std::string& path, std::shared_ptr<Model> model);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_EXPORTED_COMPILED_STEP_H_
