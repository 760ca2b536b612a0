#include "trainer/model/script_model.h"

#include <ATen/ops/rand.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/api/module.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "backends/make_backend.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/losses.h"
#include "trainer/optim/adamw.h"
#include "trainer/supervised.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// y = x @ w + b, with a counter of forward passes.
torch::jit::Module Line() {
  torch::jit::Module module("line");
  module.register_parameter("w", at::zeros({3, 1}).requires_grad_(),
                            /*is_buffer=*/false);
  module.register_parameter("b", at::zeros({1}).requires_grad_(),
                            /*is_buffer=*/false);
  module.register_buffer("passes", at::zeros({1}));
  module.register_attribute("training", c10::BoolType::get(), true);
  module.define(R"(
    def forward(self, x):
      if self.training:
        self.passes += 1
      return torch.matmul(x, self.w) + self.b
  )");
  return module;
}

std::vector<std::string> NamesOf(const std::vector<NamedTensor>& tensors) {
  std::vector<std::string> names;
  for (const NamedTensor& item : tensors) names.push_back(item.name);
  return names;
}

TEST(ScriptModelTest, HeaderExample) {
  std::filesystem::current_path(::testing::TempDir());
  Line().save("net.pt");
  const auto backend = MakeBackend("sp");
  const std::shared_ptr<ScriptModel> model = LoadScript("net.pt");
  AdamW optimizer({ParamGroup{.params = model->Parameters()}}, {.lr = 1e-3});
  Trainer trainer(Supervised(model, CrossEntropy()), optimizer, *backend);
  EXPECT_THAT(NamesOf(trainer.task().NamedTensors()),
              ElementsAre("b", "passes", "w"));
}

TEST(ScriptModelTest, IsTrainedLikeAnyOther) {
  const auto model = std::make_shared<ScriptModel>(Line());
  EXPECT_THAT(NamesOf(model->Parameters()), ElementsAre("w", "b"));
  EXPECT_THAT(NamesOf(model->Buffers()), ElementsAre("passes"));
  AdamW optimizer({ParamGroup{.params = model->Parameters()}},
                  {.lr = 0.1, .weight_decay = 0});
  const auto backend = MakeBackend("sp");
  Trainer trainer(Supervised(model, MeanSquaredError()), optimizer, *backend);
  const at::Tensor x = at::rand({32, 3});
  const DatasetPtr data =
      MakeTensorDataset(Example{x, x.sum(1, /*keepdim=*/true).mul(2)});
  trainer.Train({.data = data,
                 .eval_data = data,
                 .length = Epochs(300),
                 .per_device_batch_size = 16});
  EXPECT_LT(trainer.history().Latest("eval_loss"), 1e-3);
  // Evaluation runs in evaluation mode and does not count.
  EXPECT_EQ(model->Buffers()[0].tensor.item<double>(), 600);
  EXPECT_THAT(NamesOf(trainer.task().NamedTensors()),
              ElementsAre("b", "passes", "w"));
}

TEST(ScriptModelTest, LoadsASavedModule) {
  const std::string path = ::testing::TempDir() + "/line.pt";
  Line().save(path);
  const auto model = LoadScript(path);
  EXPECT_EQ(model->forward(at::zeros({2, 3})).sizes(), at::IntArrayRef({2, 1}));
}

TEST(ScriptModelTest, ErrorsNameTheFile) {
  const std::string path = ::testing::TempDir() + "/not.pt";
  std::ofstream(path) << "no";
  for (const std::string& bad : {path, std::string("/not/there.pt")}) {
    try {
      LoadScript(bad);
      FAIL() << "read " << bad;
    } catch (const c10::ValueError& e) {
      EXPECT_THAT(e.what(), HasSubstr("LoadScript: " + bad +
                                      " is not a TorchScript file"));
    }
  }
}

}  // namespace
}  // namespace trainyard
