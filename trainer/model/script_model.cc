#include "trainer/model/script_model.h"

#include <c10/util/Exception.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <exception>
#include <utility>

#include "trainer/error_message.h"

namespace trainyard {
namespace {

template <class NamedList>
std::vector<NamedTensor> Listed(const NamedList& tensors) {
  std::vector<NamedTensor> list;
  for (const auto& item : tensors) list.push_back({item.name, item.value});
  return list;
}

}  // namespace

ScriptModel::ScriptModel(torch::jit::Module module)
    : module_(std::make_unique<torch::jit::Module>(std::move(module))) {}

ScriptModel::~ScriptModel() = default;

at::Tensor ScriptModel::forward(const at::Tensor& input) {
  return module_->forward({input}).toTensor();
}

void ScriptModel::SetTraining(bool training) {
  if (module_->is_training() != training) module_->train(training);
}

void ScriptModel::To(at::Device device) { module_->to(device); }

std::vector<NamedTensor> ScriptModel::Parameters() const {
  return Listed(module_->named_parameters());
}

std::vector<NamedTensor> ScriptModel::Buffers() const {
  return Listed(module_->named_buffers());
}

std::shared_ptr<ScriptModel> LoadScript(const std::string& path) {
  std::string error;
  try {
    return std::make_shared<ScriptModel>(torch::jit::load(path, at::kCPU));
  } catch (const std::exception& e) {
    error = ErrorMessage(e);
  }
  C10_THROW_ERROR(ValueError,
                  "LoadScript: " + path +
                      " is not a TorchScript file that can be read: " + error);
}

}  // namespace trainyard
