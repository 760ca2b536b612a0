#include "trainer/testing/modules.h"

#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/any.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include <stdexcept>

namespace trainyard {
namespace {

using torch::nn::AnyModule;

class CustomImpl final : public torch::nn::Module {
 public:
  explicit CustomImpl(TestModuleParts parts)
      : torch::nn::Module(std::move(parts.type)),
        forward_(std::move(parts.forward)) {
    for (const auto& [name, child] : parts.children) {
      register_module(name, child.ptr());
    }
    for (const NamedTensor& item : parts.parameters) {
      register_parameter(item.name, item.tensor);
    }
    for (const NamedTensor& item : parts.buffers) {
      register_buffer(item.name, item.tensor);
    }
  }
  at::Tensor forward(const at::Tensor& input) {
    if (!forward_) throw std::logic_error(name() + " was given no forward");
    return forward_(input);
  }

 private:
  std::function<at::Tensor(const at::Tensor&)> forward_;
};

// An AnyModule can only hold a module whose forward is no template.
class SequentialImpl final : public torch::nn::SequentialImpl {
 public:
  at::Tensor forward(const at::Tensor& input) {
    return torch::nn::SequentialImpl::forward(input);
  }
};

}  // namespace

TestModule::TestModule(const AnyModule& module)
    : module_(module.ptr()), callable_(std::make_shared<AnyModule>(module)) {}

TestModule::TestModule(std::shared_ptr<torch::nn::Module> module)
    : module_(std::move(module)) {}

at::Tensor TestModule::forward(const at::Tensor& input) const {
  if (!callable_) {
    throw std::logic_error("a child of a TestModule cannot be called: " +
                           name());
  }
  return callable_->forward(input);
}

at::Tensor TestModule::operator[](const std::string& name) const {
  for (const Tensors& tensors : {named_parameters(), named_buffers()}) {
    if (const at::Tensor* const found = tensors.find(name)) return *found;
  }
  throw std::out_of_range("a TestModule has no tensor " + name);
}

std::vector<at::Tensor> TestModule::parameters() const {
  return module_->parameters();
}
TestModule::Tensors TestModule::named_parameters() const {
  return module_->named_parameters();
}
TestModule::Tensors TestModule::named_buffers() const {
  return module_->named_buffers();
}
std::vector<TestModule> TestModule::children() const {
  std::vector<TestModule> children;
  for (const auto& child : module_->children()) {
    children.push_back(TestModule(child));
  }
  return children;
}
std::string TestModule::name() const { return module_->name(); }

void TestModule::train() const { module_->train(); }
void TestModule::eval() const { module_->eval(); }
bool TestModule::is_training() const { return module_->is_training(); }
void TestModule::to(at::ScalarType type) const { module_->to(type); }
void TestModule::to(at::Device device) const { module_->to(device); }

TestLinear::TestLinear(int64_t in_features, int64_t out_features)
    : TestModule(AnyModule(torch::nn::Linear(in_features, out_features))) {}

TestConv2d::TestConv2d(int64_t in_channels, int64_t out_channels,
                       int64_t kernel_size, int64_t padding)
    : TestModule(AnyModule(torch::nn::Conv2d(
          torch::nn::Conv2dOptions(in_channels, out_channels, kernel_size)
              .padding(padding)))) {}

TestEmbedding::TestEmbedding(int64_t num_embeddings, int64_t embedding_dim)
    : TestModule(
          AnyModule(torch::nn::Embedding(num_embeddings, embedding_dim))) {}

TestBatchNorm1d::TestBatchNorm1d(int64_t num_features)
    : TestModule(AnyModule(torch::nn::BatchNorm1d(num_features))) {}

TestLayerNorm::TestLayerNorm(int64_t normalized_size)
    : TestModule(AnyModule(torch::nn::LayerNorm(
          torch::nn::LayerNormOptions({normalized_size})))) {}

TestDropout::TestDropout(double p)
    : TestModule(AnyModule(torch::nn::Dropout(p))) {}

TestReLU::TestReLU() : TestModule(AnyModule(torch::nn::ReLU())) {}

TestTanh::TestTanh() : TestModule(AnyModule(torch::nn::Tanh())) {}

TestSequential::TestSequential(std::initializer_list<TestModule> modules)
    : TestModule([&] {
        const auto sequential = std::make_shared<SequentialImpl>();
        for (const TestModule& module : modules) {
          sequential->push_back(*module.callable_);
        }
        return AnyModule(sequential);
      }()) {}

TestCustom::TestCustom(TestModuleParts parts)
    : TestModule(AnyModule(std::make_shared<CustomImpl>(std::move(parts)))) {}

}  // namespace trainyard
