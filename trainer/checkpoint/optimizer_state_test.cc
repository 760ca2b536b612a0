#include "trainer/checkpoint/optimizer_state.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include "trainer/checkpoint/safetensors/safetensors.h"
#include "trainer/optim/adamw.h"
#include "trainer/optim/sgd.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

// The numbers of tools/convert/optimizer_state_golden.py.
constexpr int64_t kUpdates = 5;

at::Tensor Numbers(at::IntArrayRef shape, int64_t seed) {
  const at::Tensor numbers = at::ones(shape);
  auto* const values = static_cast<float*>(numbers.mutable_data_ptr());
  for (int64_t i = 0; i < numbers.numel(); ++i) {
    values[i] =
        static_cast<float>((i * 7919 + seed * 104729) % 1009 - 504) / 512;
  }
  return numbers;
}

std::vector<NamedTensor> Parameters() {
  return {{"body.weight", Numbers({3, 4}, 1000).requires_grad_()},
          {"body.bias", Numbers({37}, 1001).requires_grad_()},
          {"head/weight", Numbers({2, 3, 2}, 1002).requires_grad_()},
          {"head.unused", Numbers({3}, 1003).requires_grad_()}};
}

void Update(std::vector<NamedTensor>& params, Optimizer& optimizer,
            int64_t first) {
  for (int64_t step = first; step < first + kUpdates; ++step) {
    for (size_t i = 0; i < params.size(); ++i) {
      if (params[i].name == "head.unused") continue;
      if (params[i].name == "head/weight" && step == 0) continue;
      params[i].tensor.mutable_grad() = Numbers(
          params[i].tensor.sizes(), 10 * step + static_cast<int64_t>(i));
    }
    optimizer.step();
  }
}

std::string PathOf(const std::string& name) {
  return "trainer/checkpoint/testdata/" + name;
}

std::string Content(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

struct Case {
  std::string name;
  std::vector<std::string> fields;
  std::unique_ptr<Optimizer> (*make)(const std::vector<ParamGroup>&);
};

class OptimizerStateTest : public ::testing::TestWithParam<Case> {
 protected:
  std::unique_ptr<Optimizer> Make(const std::vector<NamedTensor>& params) {
    const auto groups = ReadPythonParamGroups(
        PathOf(GetParam().name + "_before.json"), params, GetParam().fields);
    EXPECT_TRUE(groups.ok()) << groups.status();
    return GetParam().make(*groups);
  }

  std::map<std::string, at::Tensor> Model() {
    const auto file =
        ReadSafetensors(PathOf(GetParam().name + "_model.safetensors"));
    EXPECT_TRUE(file.ok()) << file.status();
    std::map<std::string, at::Tensor> model;
    for (const auto& [name, tensor] : file->tensors) model[name] = tensor;
    return model;
  }

  void ExpectState(const Optimizer& optimizer, const std::string& time) {
    const std::string path = ::testing::TempDir() + "/state.safetensors";
    ASSERT_TRUE(SaveOptimizerState(path, optimizer).ok());
    // The same file as Python's, so Python can continue from it.
    EXPECT_TRUE(Content(path) ==
                Content(PathOf(GetParam().name + "_" + time + ".safetensors")))
        << time;
  }

  static void ExpectParameters(const std::vector<NamedTensor>& params,
                               const std::map<std::string, at::Tensor>& model,
                               const std::string& time) {
    for (const auto& [name, tensor] : params) {
      EXPECT_TRUE(at::equal(tensor, model.at(time + "/" + name))) << name;
    }
  }
};

TEST_P(OptimizerStateTest, ContinuesFromPythonBitForBit) {
  std::vector<NamedTensor> params = Parameters();
  const auto optimizer = Make(params);
  const auto model = Model();
  for (const auto& [name, tensor] : params) {
    tensor.detach().copy_(model.at("before/" + name));
  }
  const absl::Status loaded = LoadOptimizerState(
      PathOf(GetParam().name + "_before.safetensors"), *optimizer);
  ASSERT_TRUE(loaded.ok()) << loaded;
  ExpectState(*optimizer, "before");
  Update(params, *optimizer, kUpdates);
  ExpectState(*optimizer, "after");
  ExpectParameters(params, model, "after");
}

TEST_P(OptimizerStateTest, MatchesPythonFromTheStart) {
  std::vector<NamedTensor> params = Parameters();
  const auto optimizer = Make(params);
  Update(params, *optimizer, 0);
  ExpectState(*optimizer, "before");
  ExpectParameters(params, Model(), "before");
}

INSTANTIATE_TEST_SUITE_P(
    Optimizers, OptimizerStateTest,
    ::testing::Values(Case{"adamw",
                           {"lr", "beta1", "beta2", "eps", "weight_decay"},
                           [](const std::vector<ParamGroup>& groups)
                               -> std::unique_ptr<Optimizer> {
                             return std::make_unique<AdamW>(groups);
                           }},
                      Case{"adamw_amsgrad",
                           {"lr", "beta1", "beta2", "eps", "weight_decay"},
                           [](const std::vector<ParamGroup>& groups)
                               -> std::unique_ptr<Optimizer> {
                             return std::make_unique<AdamW>(
                                 groups, AdamWOptions{.amsgrad = true});
                           }},
                      Case{"sgd",
                           {"lr", "momentum", "dampening", "weight_decay"},
                           [](const std::vector<ParamGroup>& groups)
                               -> std::unique_ptr<Optimizer> {
                             return std::make_unique<SGD>(groups);
                           }},
                      Case{"sgd_nesterov",
                           {"lr", "momentum", "dampening", "weight_decay"},
                           [](const std::vector<ParamGroup>& groups)
                               -> std::unique_ptr<Optimizer> {
                             return std::make_unique<SGD>(
                                 groups, SGDOptions{.nesterov = true});
                           }}),
    [](const auto& each) { return each.param.name; });

TEST(OptimizerStateErrorsTest, ErrorsListAllDifferences) {
  AdamW optimizer({{.params = Parameters()}});
  const absl::Status status =
      LoadOptimizerState(PathOf("sgd_before.safetensors"), optimizer);
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("8 missing:\n  \"body.bias/exp_avg\""));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("unexpected:\n  \"body.bias/momentum_buffer\""));
}

TEST(OptimizerStateErrorsTest, RejectsParametersInNoGroupOrInTwo) {
  const auto error = [](std::vector<NamedTensor> params) {
    const auto groups =
        ReadPythonParamGroups(PathOf("sgd_before.json"), params, {});
    return std::string(groups.status().message());
  };
  std::vector<NamedTensor> params = Parameters();
  EXPECT_EQ(error(params), "");
  params[3].name = "head.other";
  EXPECT_THAT(error(params), HasSubstr("parameter \"head.unused\" is in two "
                                       "groups or not in the model"));
  params[3].name = "head.unused";
  params.push_back({"more", at::ones({1})});
  EXPECT_THAT(error(params),
              HasSubstr("parameter \"more\" of the model is in no group"));
}

}  // namespace
}  // namespace trainyard
