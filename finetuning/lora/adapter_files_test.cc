#include "finetuning/lora/adapter_files.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "tools/testing/error_of.h"
#include "trainer/checkpoint/safetensors/safetensors.h"
#include "trainer/or_throw.h"
#include "trainer/testing/modules.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// What tools/golden/peft_adapters.py wrote.
constexpr char kFolder[] = "finetuning/lora/testdata";
// What we write of the same adapters; that script's `check` has peft read it.
constexpr char kWritten[] = "finetuning/lora/testdata/written";

TestCustom Module() {
  const TestEmbedding embedding(7, 6);
  const TestLayerNorm norm(6);
  const TestConv2d conv(1, 2, 3, /*padding=*/1);
  const TestLinear linear(12, 5), head(5, 2);
  return TestCustom({.children = {{"embedding", embedding},
                                  {"norm", norm},
                                  {"conv", conv},
                                  {"linear", linear},
                                  {"head", head}},
                     .forward = [=](const at::Tensor& tokens) {
                       const at::Tensor image =
                           norm(embedding(tokens)).unsqueeze(1);
                       const at::Tensor features =
                           conv(image).transpose(1, 2).flatten(2);
                       return head(linear(features).mean(1).relu());
                     }});
}

struct Net : TestCustom {
  Net() : TestCustom(Module()) {
    const at::NoGradGuard no_gradients;
    for (const NamedTensor& item :
         OrThrow(ReadSafetensors(std::string(kFolder) + "/base.safetensors"))
             .tensors) {
      if (item.name.starts_with("test.")) {
        test[item.name] = item.tensor;
      } else {
        named_parameters()[item.name].copy_(item.tensor);
      }
    }
  }
  std::map<std::string, at::Tensor> test;
};

std::string Bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

std::string NewFolder(const std::string& name) {
  const std::string folder = testing::TempDir() + "/" + name;
  std::filesystem::remove_all(folder);
  return folder;
}

TEST(AdapterFilesTest, HeaderExample) {
  const std::string folder = NewFolder("header_example");
  at::Tensor trained;
  {
    Net model;
    Lora lora(*model, {.targets = {"linear"}, .rank = 2});
    const at::NoGradGuard no_gradients;
    for (const NamedTensor& item : lora.Parameters()) item.tensor.fill_(0.5);
    trained = model->forward(model.test.at("test.tokens"));
    OrThrow(SaveAdapters(lora, folder));
  }
  Net model;
  Lora lora(*model, OrThrow(AdapterOptions(folder)));
  OrThrow(LoadAdapters(folder, lora));
  EXPECT_TRUE(at::equal(model->forward(model.test.at("test.tokens")), trained));
}

TEST(AdapterFilesTest, ComputesWhatPeftComputes) {
  Net net;
  Lora lora(*net, OrThrow(AdapterOptions(kFolder)));
  EXPECT_THAT(lora.AdaptedLayers(), ElementsAre("embedding", "conv", "linear"));
  EXPECT_THAT(lora.OtherTrainedLayers(), ElementsAre("head"));
  OrThrow(LoadAdapters(kFolder, lora));
  const at::Tensor outputs = net.test.at("test.outputs");
  const at::Tensor tokens = net.test.at("test.tokens");
  EXPECT_TRUE(at::allclose(net->forward(tokens), outputs, 1e-5, 1e-6));
  lora.Merge();
  EXPECT_TRUE(at::allclose(net->forward(tokens), outputs, 1e-5, 1e-6));
}

TEST(AdapterFilesTest, WritesWhatPeftReads) {
  Net net;
  Lora lora(*net, OrThrow(AdapterOptions(kFolder)));
  OrThrow(LoadAdapters(kFolder, lora));
  const std::string folder = NewFolder("written");
  OrThrow(SaveAdapters(lora, folder));
  // The bytes that peft wrote.
  EXPECT_EQ(Bytes(folder + "/adapter_model.safetensors"),
            Bytes(std::string(kFolder) + "/adapter_model.safetensors"));
  for (const char* const name :
       {"/adapter_model.safetensors", "/adapter_config.json"}) {
    ASSERT_FALSE(Bytes(folder + name).empty());
    EXPECT_EQ(Bytes(folder + name), Bytes(kWritten + std::string(name)));
  }
}

TEST(AdapterFilesTest, AmbiguousNamesAreWrittenAsAPattern) {
  const TestSequential inner{TestLinear(2, 2)};
  const TestSequential model{TestLinear(2, 2), inner};
  const Lora lora(*model, {.targets = {"0"}});
  const std::string folder = NewFolder("ambiguous");
  OrThrow(SaveAdapters(lora, folder));
  EXPECT_THAT(Bytes(folder + "/adapter_config.json"),
              HasSubstr("\"target_modules\": \"0\""));
  EXPECT_THAT(OrThrow(AdapterOptions(folder)).targets, ElementsAre("0"));
}

TEST(AdapterFilesTest, NamesWhatDoesNotFitAndChangesNothing) {
  Net net;
  Lora lora(*net, {.targets = {"linear"}, .rank = 3, .alpha = 6});
  const at::Tensor b = lora.Parameters()[1].tensor;
  EXPECT_THAT(
      LoadAdapters(kFolder, lora).ToString(),
      HasSubstr("unexpected:\n  \"base_model.model.conv.lora_A.weight\""));
  EXPECT_FALSE(b.any().item<bool>());
  Net other;
  Lora wide(*other, {.targets = {"linear"}, .rank = 4, .alpha = 6});
  EXPECT_THAT(LoadAdapters(kFolder, wide).ToString(),
              HasSubstr("has rank 3 and alpha 6; this Lora has rank 4"));
  lora.Merge();
  EXPECT_THAT(ErrorOf<c10::ValueError>(
                  [&] { LoadAdapters(kFolder, lora).IgnoreError(); }),
              HasSubstr("the adapters are merged"));
}

TEST(AdapterFilesTest, ErrorsNameTheFile) {
  Net net;
  Lora lora(*net, {.targets = {"linear"}});
  const std::string nowhere = NewFolder("nowhere");
  EXPECT_EQ(LoadAdapters(nowhere, lora),
            absl::NotFoundError(nowhere +
                                "/adapter_config.json: cannot read the file"));
  EXPECT_EQ(AdapterOptions(nowhere).status().code(),
            absl::StatusCode::kNotFound);
  const std::string unsupported = NewFolder("unsupported");
  OrThrow(SaveAdapters(lora, unsupported));
  std::ofstream(unsupported + "/adapter_config.json") << "{\"use_dora\": true}";
  EXPECT_THAT(AdapterOptions(unsupported).status().ToString(),
              HasSubstr(unsupported + "/adapter_config.json: "));
  const std::string file = NewFolder("file");
  std::ofstream(file) << "not a folder";
  EXPECT_THAT(SaveAdapters(lora, file).ToString(), HasSubstr(file));
}

}  // namespace
}  // namespace trainyard
