// ModelUnit, UnitModule and DeclareUnits. Needs torch/nn for a module that is
// derived from two classes.
#include "trainer/model/model_unit.h"

#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tools/testing/error_of.h"
#include "trainer/model/model.h"
#include "trainer/model/sequential_units.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The form of the header's example.
struct BlockImpl : torch::nn::Module, UnitModule {
  at::Tensor forward(const at::Tensor& input) {
    return unit()->Run(input,
                       [&](const at::Tensor& x) { return linear(x).relu(); });
  }
  torch::nn::Linear linear{register_module("linear", torch::nn::Linear(2, 2))};
};

class Recorder final : public UnitWatcher {
 public:
  void Enter(const ModelUnit&, const std::vector<at::Tensor>& inputs) override {
    calls.push_back("enter " + std::to_string(inputs.size()));
  }
  void Leave(const ModelUnit&,
             const std::vector<at::Tensor>& outputs) override {
    calls.push_back("leave " + std::to_string(outputs.size()));
  }
  std::vector<std::string> calls;
};

TEST(ModelUnitTest, TellsItsWatcher) {
  BlockImpl block;
  block.forward(at::ones({1, 2}));
  auto recorder = std::make_shared<Recorder>();
  block.unit()->Watch(recorder);
  block.forward(at::ones({1, 2}));
  EXPECT_THAT(recorder->calls, ElementsAre("enter 1", "leave 1"));
  const auto two = block.unit()->Run(
      std::vector<at::Tensor>{at::ones({1})},
      [] { return std::vector<at::Tensor>{at::ones({1}), at::ones({2})}; });
  EXPECT_EQ(two.size(), 2);
  EXPECT_THAT(recorder->calls,
              ElementsAre("enter 1", "leave 1", "enter 1", "leave 2"));
  recorder.reset();
  EXPECT_EQ(block.forward(at::ones({1, 2})).numel(), 2);
}

TEST(ModelUnitTest, IsLeftAlsoByAnError) {
  const ModelUnit unit;
  auto recorder = std::make_shared<Recorder>();
  const_cast<ModelUnit&>(unit).Watch(recorder);
  EXPECT_THROW(unit.Run(at::ones({1}),
                        [](const at::Tensor&) -> at::Tensor {
                          throw std::runtime_error("no");
                        }),
               std::runtime_error);
  EXPECT_THAT(recorder->calls, ElementsAre("enter 1", "leave 0"));
}

// The number of parameters of each unit, by its name.
std::map<std::string, size_t> Sizes(std::shared_ptr<torch::nn::Module> module) {
  std::map<std::string, size_t> sizes;
  for (const UnitTensors& unit : NnModel(std::move(module))->Units()) {
    sizes[unit.name] = unit.parameters.size();
  }
  return sizes;
}

struct NetImpl : torch::nn::Module {
  NetImpl() {
    register_module("first", first);
    register_module("second", second);
    register_module("head", head);
  }
  std::shared_ptr<BlockImpl> first = std::make_shared<BlockImpl>();
  std::shared_ptr<BlockImpl> second = std::make_shared<BlockImpl>();
  torch::nn::Linear head = torch::nn::Linear(2, 2);
};

TEST(ModelUnitTest, AModelFindsItsUnits) {
  const auto net = std::make_shared<NetImpl>();
  const std::map<std::string, size_t> expected = {{"first", 2}, {"second", 2}};
  EXPECT_EQ(Sizes(net), expected);
}

TEST(ModelUnitTest, AUnitWithinAUnitHasItsOwnParameters) {
  struct OuterImpl : torch::nn::Module, UnitModule {
    OuterImpl() {
      register_module("inner", std::make_shared<BlockImpl>());
      register_parameter("scale", at::ones({1}));
    }
  };
  const auto net = std::make_shared<OuterImpl>();
  const std::map<std::string, size_t> expected = {{"", 1}, {"inner", 2}};
  EXPECT_EQ(Sizes(net), expected);
}

TEST(ModelUnitTest, ATiedParameterIsInNoUnit) {
  const auto between = std::make_shared<NetImpl>();
  between->second->linear->register_parameter("tied",
                                              between->first->linear->weight);
  const std::map<std::string, size_t> one_each = {{"first", 1}, {"second", 2}};
  EXPECT_EQ(Sizes(between), one_each);
  const auto outside = std::make_shared<NetImpl>();
  outside->register_parameter("tied", outside->first->linear->weight);
  EXPECT_EQ(Sizes(outside), one_each);
}

TEST(ModelUnitTest, DeclaresTheChildrenOfASequential) {
  // A Sequential within another one must be a class of its own.
  struct Inner : torch::nn::SequentialImpl {
    using SequentialImpl::SequentialImpl;
    at::Tensor forward(const at::Tensor& input) {
      return SequentialImpl::forward(input);
    }
  };
  torch::nn::Sequential net(
      torch::nn::Linear(2, 3), torch::nn::ReLU(),
      std::make_shared<Inner>(torch::nn::Linear(3, 2), torch::nn::Dropout(0.5)),
      torch::nn::BatchNorm1d(2));
  const auto before = net->named_parameters();
  net->eval();
  const at::Tensor expected = net->forward(at::ones({1, 2}));
  DeclareUnits(*net);
  DeclareUnits(*net);  // once more changes nothing
  const auto after = net->named_parameters();
  EXPECT_EQ(after.keys(), before.keys());
  for (const auto& item : before) {
    EXPECT_TRUE(after[item.key()].is_same(item.value())) << item.key();
  }
  const std::map<std::string, size_t> units = {{"0", 2}, {"2", 2}, {"3", 2}};
  EXPECT_EQ(Sizes(net.ptr()), units);
  EXPECT_TRUE(net->forward(at::ones({1, 2})).equal(expected));
  // Dropout and BatchNorm are in training mode again.
  net->train();
  const at::Tensor input = at::ones({64, 2});
  EXPECT_FALSE(net->forward(input).equal(net->forward(input)));
  EXPECT_EQ(net->named_buffers()["3.num_batches_tracked"].item<int64_t>(), 2);
  EXPECT_THAT(
      ErrorOf<c10::ValueError>([&] { DeclareUnits(*torch::nn::ReLU()); }),
      HasSubstr("is no torch::nn::Sequential"));
}

}  // namespace
}  // namespace trainyard
