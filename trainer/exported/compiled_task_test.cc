// Training by a compiled step: as any other task, resumed to the bit.
#include "trainer/exported/compiled_task.h"

#include <ATen/Context.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/make_backend.h"
#include "tools/testing/error_of.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/exported/testing/test_runs.h"
#include "trainer/losses.h"
#include "trainer/optim/adamw.h"
#include "trainer/or_throw.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

constexpr char kFolder[] = "trainer/exported/testdata/";

class CompiledTaskTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = WhyNoTestSteps(); !why.empty()) {
      GTEST_SKIP() << why;
    }
  }

  // With batches of 6, of which the last has 4: it is interpreted.
  static RunOutcome Train(const TrainOptions& options,
                          std::optional<int64_t> stop_at = std::nullopt) {
    const auto model = LoadTestModel("conv");
    AdamW optimizer(*model, {.lr = 0.01});
    const auto backend = MakeBackend("sp");
    Trainer trainer(
        CompiledSupervised(model, LoadTestStep("conv", model), CrossEntropy(),
                           {{"accuracy", Accuracy()}}),
        optimizer, *backend);
    return TrainOnCorners(trainer, optimizer, options, stop_at);
  }

  const TrainOptions options_ = {.length = Epochs(10),
                                 .per_device_batch_size = 6,
                                 .grad_accum_steps = 2,
                                 .clip = ClipNorm(1)};
};

TEST_F(CompiledTaskTest, Trains) {
  EXPECT_GT(Train(options_).accuracies.back(), 0.9);
}

TEST_F(CompiledTaskTest, ResumesToTheBit) {
  ExpectResumesToTheBit(Train, options_, {1, 5, 7, 16});
}

// The same data, weights and batches, one task compiled and one interpreted.
TEST_F(CompiledTaskTest, EndsWhereTheInterpretedModelDoes) {
  at::manual_seed(4);
  const at::Tensor x = at::randn({32, 12});
  const DatasetPtr data =
      MakeTensorDataset(Example{x, x.narrow(1, 0, 5).tanh()});
  const auto trained = [&](bool compiled) {
    const auto model = LoadTestModel("mlp");
    AdamW optimizer(*model, {.lr = 0.01});
    const auto backend = MakeBackend("sp");
    Trainer trainer(compiled
                        ? CompiledSupervised(model, LoadTestStep("mlp", model),
                                             MeanSquaredError())
                        : Supervised(model, MeanSquaredError()),
                    optimizer, *backend);
    trainer.Train({.data = data,
                   .length = Epochs(5),
                   .per_device_batch_size = 8,
                   .clip = ClipNorm(1),
                   .seed = 3});
    return model->Parameters();
  };
  const std::vector<NamedTensor> one = trained(true), other = trained(false);
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_TRUE(at::allclose(one[i].tensor, other[i].tensor, 1e-4, 1e-5))
        << one[i].name;
  }
}

// The examples of README.md, compiled_task.h and compiled_step.h.
TEST_F(CompiledTaskTest, HeaderExamples) {
  const std::filesystem::path here = std::filesystem::current_path();
  const std::filesystem::path there = ::testing::TempDir();
  const auto overwrite = std::filesystem::copy_options::overwrite_existing;
  for (const char* ending : {".pt2", ".safetensors"}) {
    std::filesystem::copy_file(std::string(kFolder) + "conv" + ending,
                               there / (std::string("net") + ending),
                               overwrite);
  }
  std::filesystem::current_path(there);
  const auto backend = MakeBackend("sp");
  auto model = OrThrow(LoadExported("net.safetensors"));
  {
    auto step = OrThrow(LoadCompiledStep("net.pt2", model));
    AdamW optimizer(*model);
    const at::Tensor images = at::randn({6, 1, 12, 12});
    const at::Tensor labels = at::randint(4, {6}, at::kLong);
    step->Run({images, labels}).loss.backward();
    optimizer.step();
  }
  AdamW optimizer(*model);
  auto step = OrThrow(LoadCompiledStep("net.pt2", model));
  Trainer trainer(CompiledSupervised(model, step, CrossEntropy()), optimizer,
                  *backend);
  std::filesystem::current_path(here);
  EXPECT_EQ(trainer.task().NamedTensors().size(), 15);
}

TEST_F(CompiledTaskTest, TheLossMustBeTheCompiledOne) {
  const auto model = LoadTestModel("conv");
  const auto step = LoadTestStep("conv", model);
  AdamW optimizer(*model);
  const auto backend = MakeBackend("sp");
  Trainer trainer(CompiledSupervised(
                      model, step,
                      [](const at::Tensor& outputs, const at::Tensor& target) {
                        return CrossEntropy()(outputs, target).mul(2);
                      }),
                  optimizer, *backend);
  EXPECT_THAT(ErrorOf<c10::Error>([&] {
                trainer.Train({.data = CornerImages(12),
                               .length = Epochs(1),
                               .per_device_batch_size = 6});
              }),
              HasSubstr("pass the loss that the library was compiled with"));
}

}  // namespace
}  // namespace trainyard
