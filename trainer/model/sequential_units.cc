#include "trainer/model/sequential_units.h"

#include <c10/util/Exception.h>
#include <torch/nn/modules/container/any.h>
#include <torch/nn/modules/container/sequential.h>

#include <memory>
#include <utility>

#include "trainer/model/model_unit.h"

namespace trainyard {
namespace {

// A module in the place of another, with its names.
class InUnitImpl final : public torch::nn::Module, public UnitModule {
 public:
  explicit InUnitImpl(torch::nn::AnyModule module)
      : Module(module.ptr()->name()), module_(std::move(module)) {
    const auto inner = module_.ptr();
    for (const auto& item : inner->named_parameters(/*recurse=*/false)) {
      register_parameter(item.key(), item.value(),
                         item.value().requires_grad());
    }
    for (const auto& item : inner->named_buffers(/*recurse=*/false)) {
      register_buffer(item.key(), item.value());
    }
    for (const auto& child : inner->named_children()) {
      register_module(child.key(), child.value());
    }
    Module::train(inner->is_training());
  }

  at::Tensor forward(const at::Tensor& input) {
    return unit()->Run(input,
                       [&](const at::Tensor& x) { return module_.forward(x); });
  }

  void train(bool on = true) override {
    Module::train(on);
    module_.ptr()->train(on);
  }

 private:
  torch::nn::AnyModule module_;
};

}  // namespace

void DeclareUnits(torch::nn::Module& sequential) {
  auto* const parent = dynamic_cast<torch::nn::SequentialImpl*>(&sequential);
  TORCH_CHECK_VALUE(parent != nullptr, "DeclareUnits: ", sequential.name(),
                    " is no torch::nn::Sequential; derive its parts from "
                    "UnitModule instead");
  const auto children = parent->named_children();
  auto place = parent->begin();
  for (const auto& child : children) {
    if (!child.value()->parameters().empty() &&
        dynamic_cast<const UnitModule*>(child.value().get()) == nullptr) {
      const auto unit = std::make_shared<InUnitImpl>(*place);
      parent->replace_module(child.key(), unit);
      *place = torch::nn::AnyModule(unit);
    }
    ++place;
  }
}

}  // namespace trainyard
