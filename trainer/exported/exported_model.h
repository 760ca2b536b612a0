// ExportedModel is a PyTorch module that tools/convert/export_model.py wrote to
// a file. It is trained like a model that was written in C++:
//
//   auto model = OrThrow(LoadExported("net.safetensors"));
//   AdamW optimizer(*model);
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

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trainer/exported/weight_uses.h"
#include "trainer/model/model.h"
#include "trainer/model/model_unit.h"
#include "trainer/model/named_tensor.h"

namespace trainyard {

class ExportedModel final : public Model {
 public:
  // What a file holds, prepared. Private to LoadExported.
  struct Parts;
  explicit ExportedModel(std::unique_ptr<Parts> parts);
  ~ExportedModel() override;

  // For a model of one input and one output. forward and Run throw
  // c10::ValueError for inputs of another number, type or size than the model
  // was exported for.
  at::Tensor forward(const at::Tensor& input);
  // Inputs and outputs are in the order of InputNames and OutputNames.
  std::vector<at::Tensor> Run(const std::vector<at::Tensor>& inputs);

  // Of the current mode: they may differ between training and evaluation.
  std::vector<std::string> InputNames() const;
  std::vector<std::string> OutputNames() const;

  // A new model is in training mode, on the CPU.
  void SetTraining(bool training) override;
  bool is_training() const;
  void To(at::Device device) override;
  // Converts all floating-point tensors to this type. Types that the Python
  // code names itself stay.
  void To(at::ScalarType type);

  std::vector<NamedTensor> Parameters() const override;
  std::vector<NamedTensor> Buffers() const override;
  // Its layers: see graph_units.h.
  std::vector<UnitTensors> Units() const override;
  // The parameters that require gradients.
  std::vector<NamedTensor> TrainedParameters() const;

  // What Python's state_dict() has: also every other name of a tied tensor, no
  // buffer that is not persistent, and no parameter of AddParameter. Shares
  // memory.
  std::vector<NamedTensor> StateDict() const;

  // ---- For adapters, such as Lora.

  // The parameters that are the weight of a linear layer, a convolution or an
  // embedding in the training graph.
  const std::vector<WeightUse>& LayerWeights() const;
  // Makes both graphs compute with `tensor` in place of the parameter, which
  // stays listed. Pass the parameter's own tensor to undo it. Throws
  // c10::ValueError for an unknown name or another shape.
  void ComputeWith(const std::string& parameter, const at::Tensor& tensor);
  // Adds to what Parameters() lists; the graphs do not use it. Throws
  // c10::ValueError for a name that is taken.
  void AddParameter(const std::string& name, const at::Tensor& tensor);
  // Removes a parameter that AddParameter added.
  void RemoveParameter(const std::string& name);

 private:
  std::unique_ptr<Parts> parts_;
};

struct LoadExportedOptions {
  // What the tensors of one forward pass may take. A pass that would take more
  // throws c10::ValueError, naming the node. Unset: the machine's memory.
  std::optional<int64_t> max_bytes = std::nullopt;
};

// Loads to the CPU. NotFound or DataLoss, with the path, for a file that cannot
// be read or is not such a model; InvalidArgument, naming the node, for a graph
// that this libtorch cannot run or that may not be run.
absl::StatusOr<std::shared_ptr<ExportedModel>> LoadExported(
    const std::string& path, const LoadExportedOptions& options = {});

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_EXPORTED_EXPORTED_MODEL_H_
