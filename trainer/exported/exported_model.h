// ExportedModel is a PyTorch module that tools/convert/export_model.py wrote to
// a file, trained like one that was written in C++:
//
//   auto model = OrThrow(LoadExported("net.safetensors"));
//   AdamW optimizer({ParamGroup{.params = model->TrainedParameters()}});
//   Trainer trainer(Supervised(model, CrossEntropy()), optimizer, *backend);
//
// Parameters and buffers have their Python names. A tensor with several names
// (tied weights) is listed once, under the first. README.md says more.
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_EXPORTED_EXPORTED_MODEL_H_
#define TRAINYARD_TRAINER_EXPORTED_EXPORTED_MODEL_H_

#include <ATen/core/Tensor.h>
#include <absl/status/statusor.h>
#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <memory>
#include <string>
#include <vector>

#include "trainer/model/model.h"
#include "trainer/model/named_tensor.h"

namespace trainyard {

class ExportedModel final : public Model {
 public:
  // What a file holds, prepared. Private to LoadExported.
  struct Parts;
  explicit ExportedModel(std::unique_ptr<Parts> parts);
  ~ExportedModel() override;

  // For a model of one input and one output. These throw c10::ValueError for
  // inputs of another number, type or size than the model was exported for.
  at::Tensor forward(const at::Tensor& input);
  // In the order of InputNames and OutputNames.
  std::vector<at::Tensor> Run(const std::vector<at::Tensor>& inputs);

  // In the present mode: they may differ between training and evaluation.
  std::vector<std::string> InputNames() const;
  std::vector<std::string> OutputNames() const;

  // A new model is in training mode, on the CPU.
  void SetTraining(bool training) override;
  void To(at::Device device) override;
  // Makes all floating-point tensors of this type. Types that the Python code
  // names itself stay.
  void To(at::ScalarType type);

  std::vector<NamedTensor> Parameters() const override;
  std::vector<NamedTensor> Buffers() const override;
  // Those of the parameters that require gradients.
  std::vector<NamedTensor> TrainedParameters() const;

  // What Python's state_dict() has: also every other name of a tied tensor, and
  // no buffer that is not persistent. Shares memory.
  std::vector<NamedTensor> StateDict() const;

 private:
  std::unique_ptr<Parts> parts_;
};

// To the CPU. NotFound or DataLoss, with the path, for a file that cannot be
// read or is no such model; InvalidArgument, naming the node, for a graph that
// this libtorch cannot run.
absl::StatusOr<std::shared_ptr<ExportedModel>> LoadExported(
    const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_EXPORTED_EXPORTED_MODEL_H_
