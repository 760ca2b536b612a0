// Modules for tests, without the headers of torch::nn, which cost a test most
// of its compilation. A TestModule is used as a holder of torch::nn is, and
// holds the same modules with the same names and, from the same seed, the same
// weights:
//
//   TestSequential model{TestLinear(3, 4), TestBatchNorm1d(4)};
//   AdamW optimizer(*model);
//   model->forward(input).sum().backward();
//   model["0.weight"].grad();
//
// Thread-compatible, as torch::nn::Module is.
#ifndef TRAINYARD_TRAINER_TESTING_MODULES_H_
#define TRAINYARD_TRAINER_TESTING_MODULES_H_

#include <ATen/core/Tensor.h>
#include <torch/ordered_dict.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "trainer/model/named_tensor.h"

namespace torch::nn {
class AnyModule;
class Module;
}  // namespace torch::nn

namespace trainyard {

// Copies are the same module.
class TestModule {
 public:
  using Tensors = torch::OrderedDict<std::string, at::Tensor>;

  torch::nn::Module& operator*() const { return *module_; }
  const TestModule* operator->() const { return this; }
  const std::shared_ptr<torch::nn::Module>& ptr() const { return module_; }

  // A child from children() cannot be called: std::logic_error.
  at::Tensor forward(const at::Tensor& input) const;
  at::Tensor operator()(const at::Tensor& input) const {
    return forward(input);
  }

  // The parameter or buffer of this name; std::out_of_range if there is none.
  at::Tensor operator[](const std::string& name) const;

  std::vector<at::Tensor> parameters() const;
  Tensors named_parameters() const;
  Tensors named_buffers() const;
  std::vector<TestModule> children() const;
  std::string name() const;  // of its type, e.g. "torch::nn::LinearImpl"

  void train() const;
  void eval() const;
  bool is_training() const;
  void to(at::ScalarType type) const;
  void to(at::Device device) const;

 protected:
  explicit TestModule(const torch::nn::AnyModule& module);

 private:
  friend struct TestSequential;
  explicit TestModule(std::shared_ptr<torch::nn::Module> module);

  std::shared_ptr<torch::nn::Module> module_;
  std::shared_ptr<torch::nn::AnyModule> callable_;
};

// As in torch::nn, with its defaults.

struct TestLinear : TestModule {
  TestLinear(int64_t in_features, int64_t out_features);
};

struct TestConv2d : TestModule {
  TestConv2d(int64_t in_channels, int64_t out_channels, int64_t kernel_size,
             int64_t padding = 0);
};

struct TestEmbedding : TestModule {
  TestEmbedding(int64_t num_embeddings, int64_t embedding_dim);
};

struct TestBatchNorm1d : TestModule {
  explicit TestBatchNorm1d(int64_t num_features);
};

struct TestLayerNorm : TestModule {
  explicit TestLayerNorm(int64_t normalized_size);
};

struct TestDropout : TestModule {
  explicit TestDropout(double p = 0.5);
};

struct TestReLU : TestModule {
  TestReLU();
};

struct TestTanh : TestModule {
  TestTanh();
};

struct TestSequential : TestModule {
  TestSequential(std::initializer_list<TestModule> modules);
};

// A module of the test's own, in place of a class that is derived from
// torch::nn::Module. Tensors are registered as they are, not copied, and
// parameters get gradients.
struct TestModuleParts {
  std::string type = "TestModule";
  std::vector<std::pair<std::string, TestModule>> children = {};
  std::vector<NamedTensor> parameters = {};
  std::vector<NamedTensor> buffers = {};
  std::function<at::Tensor(const at::Tensor& input)> forward = nullptr;
};

struct TestCustom : TestModule {
  explicit TestCustom(TestModuleParts parts);
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_TESTING_MODULES_H_
