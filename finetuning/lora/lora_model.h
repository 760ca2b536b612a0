// LoraModel is a model as Lora sees it: layers by name, whose weights can be
// replaced and that can be given more parameters.
//
//   const std::unique_ptr<LoraModel> model = LoraModelOf(*model_);
//   for (const LoraModel::Layer& layer : model->layers()) {
//     (layer.kind ? can : cannot).push_back(layer.name);
//   }
//
// Thread-compatible. Borrows the model, which must outlive it.
#ifndef TRAINYARD_FINETUNING_LORA_LORA_MODEL_H_
#define TRAINYARD_FINETUNING_LORA_LORA_MODEL_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "finetuning/lora/adapted_weight.h"
#include "trainer/model/named_tensor.h"

namespace torch::nn {
class Module;
}  // namespace torch::nn

namespace trainyard {

class ExportedModel;

class LoraModel {
 public:
  struct Layer {
    // With the modules that it is in, e.g. "encoder.0.query".
    std::string name;
    // For messages, e.g. "torch::nn::LinearImpl". Empty if it is not known.
    std::string type;
    // Unset for a layer that cannot be adapted.
    std::optional<LowRankKind> kind = std::nullopt;
    // The weight to adapt. Undefined without a kind.
    at::Tensor weight = {};
    // Of this layer and of those in it.
    std::vector<at::Tensor> parameters = {};
    // Whether it is in training mode.
    std::function<bool()> is_training = {};
  };

  virtual ~LoraModel() = default;

  // As they were when this was made, in the model's order.
  const std::vector<Layer>& layers() const { return layers_; }

  virtual std::vector<NamedTensor> Parameters() const = 0;

  // Makes the layer compute with `weight`; its parameter stays registered.
  // REQUIRES: the layer has a kind.
  virtual void UseWeight(size_t layer, const at::Tensor& weight) = 0;

  // Adds a parameter "<layer>.<name>.weight", and takes it out again.
  virtual void AddMatrix(size_t layer, const std::string& name,
                         const at::Tensor& values) = 0;
  virtual void RemoveMatrix(size_t layer, const std::string& name) = 0;

 protected:
  std::vector<Layer> layers_;
};

std::unique_ptr<LoraModel> LoraModelOf(torch::nn::Module& model);
// Its layers are those with parameters.
std::unique_ptr<LoraModel> LoraModelOf(ExportedModel& model);

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_LORA_LORA_MODEL_H_
