// The losses of this folder against values that Python's torch computed.
#include <ATen/ops/allclose.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "finetuning/losses/distillation.h"
#include "finetuning/losses/mixed_targets.h"

namespace trainyard {
namespace {

struct Case {
  std::string name;
  std::map<std::string, double> options;
  std::map<std::string, at::Tensor> tensors;
};

at::Tensor ParseTensor(std::istringstream& words) {
  std::string shape;
  words >> shape;
  std::vector<int64_t> sizes;
  std::istringstream dims(shape);
  for (std::string dim; std::getline(dims, dim, 'x');) {
    sizes.push_back(std::stoll(dim));
  }
  std::vector<float> values;
  for (float value = 0; words >> value;) values.push_back(value);
  return at::tensor(values).view(sizes);
}

std::vector<Case> ReadCases() {
  std::ifstream file("finetuning/losses/testdata/losses.txt");
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "#") continue;
    if (word != "case") {
      cases.back().tensors[word] = ParseTensor(words);
      continue;
    }
    cases.emplace_back();
    words >> cases.back().name;
    while (words >> word) {
      const size_t equals = word.find('=');
      cases.back().options[word.substr(0, equals)] =
          std::strtod(word.c_str() + equals + 1, nullptr);
    }
  }
  return cases;
}

at::Tensor LossOf(const Case& item, const at::Tensor& outputs) {
  const at::Tensor& target = item.tensors.at("target");
  if (item.name == "distillation") {
    return DistillationLoss({.temperature = item.options.at("temperature"),
                             .alpha = item.options.at("alpha")})(
        outputs, item.tensors.at("teacher"), target.to(at::kLong));
  }
  return MixedCrossEntropy(item.options.at("smoothing"))(
      outputs, item.name == "numbers" ? target.to(at::kLong) : target);
}

TEST(LossesGoldenTest, ValuesAndGradientsArePythons) {
  const std::vector<Case> cases = ReadCases();
  ASSERT_EQ(cases.size(), 13);
  for (size_t i = 0; i < cases.size(); ++i) {
    const Case& item = cases[i];
    const at::Tensor outputs =
        item.tensors.at("outputs").clone().requires_grad_();
    const at::Tensor loss = LossOf(item, outputs);
    loss.backward();
    EXPECT_TRUE(at::allclose(loss.detach().view({1}), item.tensors.at("loss"),
                             1e-6, 1e-6))
        << "case " << i << ", " << item.name << ": " << loss.item<double>();
    EXPECT_TRUE(
        at::allclose(outputs.grad(), item.tensors.at("gradient"), 1e-5, 1e-6))
        << "case " << i << ", " << item.name;
  }
}

}  // namespace
}  // namespace trainyard
