#include "trainer/exported/exported_model.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "trainer/checkpoint/safetensors/safetensors.h"
#include "trainer/error_message.h"
#include "trainer/or_throw.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string File(const std::string& model) {
  return "trainer/exported/testdata/" + model + ".safetensors";
}

std::shared_ptr<ExportedModel> Loaded(const std::string& model) {
  return OrThrow(LoadExported(File(model)));
}

std::vector<std::string> NamesOf(const std::vector<NamedTensor>& tensors) {
  std::vector<std::string> names;
  for (const NamedTensor& item : tensors) names.push_back(item.name);
  return names;
}

at::Tensor Find(const std::vector<NamedTensor>& tensors,
                const std::string& name) {
  for (const NamedTensor& item : tensors) {
    if (item.name == name) return item.tensor;
  }
  return {};
}

// The message of what it throws.
std::string ErrorOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const c10::ValueError& error) {
    return ErrorMessage(error);
  }
  return "nothing was thrown";
}

TEST(ExportedModelTest, HasNamesOfPython) {
  const auto model = Loaded("mlp");
  EXPECT_THAT(model->InputNames(), ElementsAre("x"));
  EXPECT_THAT(model->OutputNames(), ElementsAre("output"));
  EXPECT_THAT(NamesOf(model->Parameters()),
              ElementsAre("scale", "first.weight", "first.bias",
                          "second.weight", "second.bias"));
  EXPECT_THAT(NamesOf(model->Buffers()), ElementsAre("shift"));
  // Frozen in Python.
  EXPECT_THAT(NamesOf(model->TrainedParameters()),
              ElementsAre("first.weight", "first.bias", "second.weight",
                          "second.bias"));
  // Not persistent.
  EXPECT_EQ(model->StateDict().size(), 5);
}

TEST(ExportedModelTest, TiedWeightsAreOneTensor) {
  const auto model = Loaded("transformer");
  EXPECT_THAT(model->InputNames(), ElementsAre("tokens", "padding"));
  EXPECT_THAT(model->OutputNames(), ElementsAre("logits", "pooled"));
  EXPECT_FALSE(Find(model->Parameters(), "head.weight").defined());
  const at::Tensor words = Find(model->StateDict(), "words.weight");
  EXPECT_TRUE(Find(model->StateDict(), "head.weight").is_same(words));
}

TEST(ExportedModelTest, ModesAreTwoGraphs) {
  const auto model = Loaded("conv");
  const at::Tensor x = at::randn({3, 1, 12, 12});
  const at::Tensor passes = Find(model->Buffers(), "norm.num_batches_tracked");
  model->SetTraining(false);
  EXPECT_TRUE(at::equal(model->forward(x), model->forward(x)));
  EXPECT_EQ(passes.item<int64_t>(), 0);
  model->SetTraining(true);
  EXPECT_FALSE(at::equal(model->forward(x), model->forward(x)));
  EXPECT_EQ(passes.item<int64_t>(), 2);
}

TEST(ExportedModelTest, TakesBatchesOfAnySize) {
  const auto model = Loaded("mlp");
  for (const int64_t batch : {1, 2, 5, 100}) {
    EXPECT_EQ(model->forward(at::randn({batch, 12})).sizes(),
              at::IntArrayRef({batch, 5}));
  }
}

TEST(ExportedModelTest, MovesToAnotherType) {
  const auto model = Loaded("mlp");
  const at::Tensor weight = model->Parameters()[1].tensor;
  const at::Tensor x = at::randn({3, 12});
  const at::Tensor before = model->forward(x).detach();
  model->To(at::kDouble);
  model->To(at::Device(at::kCPU));
  EXPECT_EQ(weight.scalar_type(), at::kDouble);  // the same tensor
  const at::Tensor after = model->forward(x.to(at::kDouble));
  EXPECT_EQ(after.scalar_type(), at::kDouble);
  EXPECT_TRUE(at::allclose(after, before.to(at::kDouble), 1e-5, 1e-6));
  after.sum().backward();
  EXPECT_EQ(weight.grad().scalar_type(), at::kDouble);
  EXPECT_THAT(ErrorOf([&] { model->To(at::kLong); }),
              HasSubstr("cannot be made of type Long"));
}

TEST(ExportedModelTest, RefusesInputsThatDoNotFit) {
  const auto mlp = Loaded("mlp");
  EXPECT_THAT(ErrorOf([&] { mlp->forward(at::randn({3, 11})); }),
              HasSubstr("input x has size 11 in dimension 1; the model was "
                        "exported for 12"));
  EXPECT_THAT(ErrorOf([&] { mlp->forward(at::randn({12})); }),
              HasSubstr("input x has 1 dimensions"));
  EXPECT_THAT(ErrorOf([&] { mlp->forward(at::zeros({3, 12}, at::kLong)); }),
              HasSubstr("input x is of type Long"));
  EXPECT_THAT(ErrorOf([&] { mlp->forward({}); }),
              HasSubstr("input x is undefined"));
  EXPECT_THAT(ErrorOf([&] { mlp->Run({}); }),
              HasSubstr("0 inputs are given; the model takes 1"));
  const auto transformer = Loaded("transformer");
  const at::Tensor tokens = at::randint(32, {2, 5}, at::kLong);
  EXPECT_THAT(
      ErrorOf(
          [&] { transformer->Run({tokens, at::zeros({3, 5}, at::kBool)}); }),
      HasSubstr("input padding has size 3 in dimension 0, and dimension 0 of "
                "tokens is 2; they must be equal"));
  EXPECT_THAT(ErrorOf([&] { transformer->forward(tokens); }),
              HasSubstr("this one has 2 and 2. Call Run"));
}

TEST(ExportedModelTest, AnErrorOfAnOperatorNamesTheNode) {
  const auto model = Loaded("transformer");
  const at::NoGradGuard no_gradients;
  try {
    model->Run(
        {at::randint(32, {2, 25}, at::kLong), at::zeros({2, 25}, at::kBool)});
    FAIL() << "a sequence longer than the table of places";
  } catch (const c10::Error& error) {
    EXPECT_THAT(ErrorMessage(error), HasSubstr("(aten::embedding in places)"));
  }
}

TEST(ExportedModelTest, ForwardTakesNoMoreMemoryThanAllowed) {
  const auto model = OrThrow(LoadExported(File("mlp"), {.max_bytes = 1 << 20}));
  EXPECT_EQ(model->forward(at::randn({10, 12})).size(0), 10);
  EXPECT_THAT(ErrorOf([&] { model->forward(at::randn({20'000, 12})); }),
              HasSubstr("the limit is 1048576"));
  EXPECT_THAT(ErrorOf([&] { model->forward(at::randn({20'000, 12})); }),
              HasSubstr("tensors would take"));
}

// What adapters need of a model.
TEST(ExportedModelTest, ComputesWithAnotherTensor) {
  const auto model = Loaded("conv");
  std::vector<std::string> uses;
  for (const WeightUse& use : model->LayerWeights()) {
    uses.push_back(use.parameter + ": " + use.op);
  }
  EXPECT_THAT(uses, ElementsAre("stem.weight: aten::conv2d",
                                "body.weight: aten::conv2d",
                                "head.weight: aten::linear"));
  model->SetTraining(false);
  const at::Tensor x = at::randn({3, 1, 12, 12});
  const at::Tensor before = model->forward(x);
  const at::Tensor weight = Find(model->Parameters(), "head.weight");
  model->ComputeWith("head.weight", at::zeros_like(weight));
  EXPECT_TRUE(at::equal(model->forward(x)[0], model->forward(x)[1]));
  model->ComputeWith("head.weight", weight);
  EXPECT_TRUE(at::equal(model->forward(x), before));
  EXPECT_THAT(ErrorOf([&] { model->ComputeWith("hat.weight", weight); }),
              HasSubstr("there is no parameter \"hat.weight\""));
  EXPECT_THAT(ErrorOf([&] { model->ComputeWith("head.weight", x); }),
              HasSubstr("must have its shape"));
}

TEST(ExportedModelTest, TakesMoreParameters) {
  const auto model = Loaded("mlp");
  const at::Tensor extra = at::zeros({2});
  model->AddParameter("first.extra", extra);
  EXPECT_THAT(NamesOf(model->Parameters()),
              ElementsAre("scale", "first.weight", "first.bias",
                          "second.weight", "second.bias", "first.extra"));
  EXPECT_EQ(model->StateDict().size(), 5);  // as Python knows it
  EXPECT_THAT(ErrorOf([&] { model->AddParameter("first.extra", extra); }),
              HasSubstr("there is a \"first.extra\" already"));
  EXPECT_THAT(ErrorOf([&] { model->AddParameter("shift", extra); }),
              HasSubstr("there is a \"shift\" already"));
  model->To(at::kDouble);
  EXPECT_EQ(extra.scalar_type(), at::kDouble);
  model->RemoveParameter("first.extra");
  EXPECT_EQ(model->Parameters().size(), 5);
}

// A copy of a model's file with other metadata.
std::string Changed(const std::string& model, const std::string& key,
                    const std::function<void(std::string&)>& change) {
  Safetensors file = OrThrow(ReadSafetensors(File(model)));
  change(file.metadata[key]);
  const std::string path = ::testing::TempDir() + "/changed.safetensors";
  EXPECT_TRUE(WriteSafetensors(path, file.tensors, file.metadata).ok());
  return path;
}

std::string Replaced(const std::string& key, const std::string& from,
                     const std::string& to) {
  const std::string path = Changed("mlp", key, [&](std::string& text) {
    ASSERT_NE(text.find(from), std::string::npos);
    text.replace(text.find(from), from.size(), to);
  });
  return std::string(LoadExported(path).status().message());
}

TEST(ExportedModelTest, NamesWhatIsWrongWithAFile) {
  EXPECT_THAT(
      std::string(LoadExported("/not/there.safetensors").status().message()),
      HasSubstr("/not/there.safetensors"));
  EXPECT_THAT(std::string(LoadExported(File("mlp_golden")).status().message()),
              HasSubstr("is not a model of tools/convert/export_model.py"));
  EXPECT_THAT(Replaced("trainyard.exported", "1", "2"),
              HasSubstr("is a model file of version \"2\""));
  EXPECT_THAT(Replaced("trainyard.state", "first.bias", "first.base"),
              HasSubstr("there is no tensor \"first.base\""));
  EXPECT_THAT(Replaced("trainyard.eval", "first.bias", "first.base"),
              HasSubstr("evaluation graph: input"));
  EXPECT_THAT(
      Replaced("trainyard.train", "aten::linear", "aten::cubic"),
      HasSubstr("(aten::cubic in first): libtorch has no such operator"));
  EXPECT_THAT(Replaced("trainyard.train", "aten::linear", "c10d::barrier"),
              HasSubstr("graphs may not call this operator"));
  EXPECT_THAT(Replaced("trainyard.train", "\"nodes\"", "\"knots\""),
              HasSubstr("training graph: byte"));
}

}  // namespace
}  // namespace trainyard
