#include "trainer/model/model.h"

#include <torch/nn/module.h>

#include <utility>

namespace trainyard {
namespace {

std::vector<NamedTensor> Listed(
    const torch::OrderedDict<std::string, at::Tensor>& tensors) {
  std::vector<NamedTensor> list;
  for (const auto& item : tensors) list.push_back({item.key(), item.value()});
  return list;
}

class Native final : public Model {
 public:
  explicit Native(std::shared_ptr<torch::nn::Module> module)
      : module_(std::move(module)) {}

  void SetTraining(bool training) override {
    if (module_->is_training() != training) module_->train(training);
  }
  void To(at::Device device) override { module_->to(device); }
  std::vector<NamedTensor> Parameters() const override {
    return Listed(module_->named_parameters());
  }
  std::vector<NamedTensor> Buffers() const override {
    return Listed(module_->named_buffers());
  }

 private:
  std::shared_ptr<torch::nn::Module> module_;
};

}  // namespace

std::shared_ptr<Model> NnModel(std::shared_ptr<torch::nn::Module> module) {
  if (module == nullptr) return nullptr;
  return std::make_shared<Native>(std::move(module));
}

}  // namespace trainyard
