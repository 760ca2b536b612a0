// A TorchScript model that Python exported is warm-started, frozen except for
// its head, trained, averaged and exported like a model written in C++. See
// tools/golden/script_net.py, which also reads the files that this test writes.
#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/api/module.h>

#include <map>
#include <memory>
#include <string>

#include "finetuning/ema.h"
#include "finetuning/freezer/model_freezer.h"
#include "finetuning/warm_start/export_model.h"
#include "finetuning/warm_start/export_script.h"
#include "finetuning/warm_start/warm_start.h"
#include "trainer/checkpoint/safetensors/safetensors.h"
#include "trainer/losses.h"
#include "trainer/model/script_model.h"
#include "trainer/optim/adamw.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

constexpr char kFolder[] = "finetuning/warm_start/testdata/";

using Weights = std::map<std::string, at::Tensor>;

Weights Copied(const std::vector<NamedTensor>& tensors) {
  Weights copies;
  for (const NamedTensor& item : tensors) {
    copies[item.name] = item.tensor.detach().clone();
  }
  return copies;
}

Weights WeightsOf(const ScriptModel& model) {
  Weights all = Copied(model.Parameters());
  all.merge(Copied(model.Buffers()));
  return all;
}

at::Tensor Outputs(ScriptModel& model, const at::Tensor& inputs) {
  const at::NoGradGuard no_gradients;
  model.SetTraining(false);
  return model.forward(inputs);
}

TEST(ExportScriptTest, HeaderExample) {
  const std::string path = std::string(kFolder) + "net.pt";
  const std::string tuned_path = ::testing::TempDir() + "/header_example.pt";
  const std::shared_ptr<ScriptModel> model = LoadScript(path);
  {
    const at::NoGradGuard no_gradients;
    for (const NamedTensor& item : model->Parameters()) item.tensor.fill_(1);
  }
  const absl::Status written = ExportScript(*model, tuned_path);
  ASSERT_TRUE(written.ok()) << written;
  for (const NamedTensor& item : LoadScript(tuned_path)->Parameters()) {
    EXPECT_TRUE(item.tensor.eq(1).all().item<bool>()) << item.name;
  }
}

TEST(ScriptTrainingTest, IsFineTunedLikeANativeModel) {
  at::manual_seed(3);
  const auto model = LoadScript(std::string(kFolder) + "net.pt");
  const auto report =
      WarmStart(std::string(kFolder) + "weights.safetensors", *model);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->loaded.size(), 9);
  const Weights start = WeightsOf(*model);

  ModelFreezer freezer(model->module(), {.batch_norms = BatchNorms::kFreeze});
  freezer.FreezeGroups();
  AdamW optimizer({ParamGroup{.params = freezer.TrainableParameters()}},
                  {.lr = 0.05});
  Ema ema(*model, {.decay = 0.5});
  const at::Tensor images = at::randn({64, 1, 6, 6});
  const at::Tensor labels = at::randint(3, {64}, at::kLong);
  at::Tensor loss;
  for (int update = 0; update < 40; ++update) {
    loss = CrossEntropy()(model->forward(images), labels);
    loss.backward();
    optimizer.step();
    optimizer.ZeroGrad();
    ema.Update();
  }
  EXPECT_LT(loss.item<double>(), 0.8);

  const Weights trained = WeightsOf(*model);
  EXPECT_TRUE(at::equal(trained.at("stem.weight"), start.at("stem.weight")));
  EXPECT_FALSE(at::equal(trained.at("head.weight"), start.at("head.weight")));
  const Weights average = Copied(ema.NamedTensors());
  EXPECT_FALSE(at::equal(average.at("head.weight"), trained.at("head.weight")));
  {
    const Ema::Swap averaged(ema);
    EXPECT_TRUE(at::equal(WeightsOf(*model).at("head.weight"),
                          average.at("head.weight")));
  }
  EXPECT_TRUE(at::equal(WeightsOf(*model).at("head.weight"),
                        trained.at("head.weight")));

  const std::string folder = ::testing::TempDir();
  ASSERT_TRUE(ExportScript(*model, folder + "/tuned.pt").ok());
  ASSERT_TRUE(ExportSafetensors(*model, folder + "/tuned.safetensors").ok());
  const auto again = LoadScript(folder + "/tuned.pt");
  EXPECT_FALSE(again->module().is_training());
  const at::Tensor inputs = at::randn({5, 1, 6, 6});
  const at::Tensor outputs = Outputs(*model, inputs);
  EXPECT_TRUE(at::equal(Outputs(*again, inputs), outputs));
  ASSERT_TRUE(WriteSafetensors(folder + "/outputs.safetensors",
                               {{"inputs", inputs}, {"outputs", outputs}})
                  .ok());
}

TEST(ScriptTrainingTest, ParametersAndBuffersAreAveraged) {
  torch::jit::Module module("line");
  module.register_parameter("w", at::zeros({2}).requires_grad_(),
                            /*is_buffer=*/false);
  module.register_buffer("seen", at::zeros({1}));
  const ScriptModel model(module);
  Ema ema(model, {.decay = 0.75});
  {
    const at::NoGradGuard no_gradients;
    for (const NamedTensor& item : model.Parameters()) item.tensor.fill_(4);
    for (const NamedTensor& item : model.Buffers()) item.tensor.fill_(8);
  }
  ema.Update();
  const Weights averages = Copied(ema.NamedTensors());
  EXPECT_TRUE(at::equal(averages.at("w"), at::ones({2})));
  EXPECT_TRUE(at::equal(averages.at("seen"), at::full({1}, 2.0F)));
  const Ema::Swap swapped(ema);
  EXPECT_TRUE(at::equal(module.attr("w").toTensor(), at::ones({2})));
}

TEST(ScriptTrainingTest, ExportNamesAFileThatCannotBeWritten) {
  const auto model = LoadScript(std::string(kFolder) + "net.pt");
  EXPECT_THAT(
      std::string(ExportScript(*model, "/no/such/folder/a.pt").message()),
      HasSubstr("/no/such/folder"));
}

}  // namespace
}  // namespace trainyard
