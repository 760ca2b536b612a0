#include "trainer/model/model.h"

#include <torch/nn/module.h>

#include <cstddef>
#include <unordered_map>
#include <utility>

namespace trainyard {
namespace {

std::vector<NamedTensor> Listed(
    const torch::OrderedDict<std::string, at::Tensor>& tensors) {
  std::vector<NamedTensor> list;
  for (const auto& item : tensors) list.push_back({item.key(), item.value()});
  return list;
}

// Finds the innermost unit of every parameter.
class UnitFinder {
 public:
  void Walk(const torch::nn::Module& module, const std::string& name,
            size_t unit) {
    if (const auto* const declared = dynamic_cast<const UnitModule*>(&module)) {
      unit = units_.size();
      units_.push_back({name, declared->unit(), {}});
    }
    for (const auto& item : module.named_parameters(/*recurse=*/false)) {
      const auto [found, is_new] =
          unit_of_.try_emplace(item.value().unsafeGetTensorImpl(), unit);
      if (is_new) {
        parameters_.push_back(item.value());
      } else if (found->second != unit) {
        found->second = kNone;  // tied
      }
    }
    for (const auto& child : module.named_children()) {
      Walk(*child.value(),
           name.empty() ? child.key() : name + "." + child.key(), unit);
    }
  }

  std::vector<UnitTensors> Units() {
    for (const at::Tensor& parameter : parameters_) {
      const size_t unit = unit_of_.at(parameter.unsafeGetTensorImpl());
      if (unit != kNone) units_[unit].parameters.push_back(parameter);
    }
    return std::move(units_);
  }

  static constexpr size_t kNone = ~size_t{0};

 private:
  std::vector<UnitTensors> units_;
  std::vector<at::Tensor> parameters_;
  std::unordered_map<const void*, size_t> unit_of_;
};

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
  std::vector<UnitTensors> Units() const override {
    UnitFinder finder;
    finder.Walk(*module_, "", UnitFinder::kNone);
    return finder.Units();
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
