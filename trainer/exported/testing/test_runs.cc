#include "trainer/exported/testing/test_runs.h"

#include <ATen/Context.h>
#include <ATen/ops/one_hot.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <absl/status/status.h>
#include <absl/strings/match.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <utility>

#include "trainer/checkpoint/state_crc32c.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/or_throw.h"

namespace trainyard {
namespace {

constexpr char kFolder[] = "trainer/exported/testdata/";

}  // namespace

std::shared_ptr<ExportedModel> LoadTestModel(const std::string& name) {
  return OrThrow(LoadExported(kFolder + name + ".safetensors"));
}

std::string WhyNoTestSteps() {
  const absl::Status loaded =
      LoadCompiledStep(std::string(kFolder) + "mlp.pt2", LoadTestModel("mlp"))
          .status();
  // Other refusals are errors of the package: tests must fail by them.
  return absl::StrContains(loaded.message(), ".pt2: was compiled ")
             ? std::string(loaded.message())
             : std::string();
}

std::shared_ptr<CompiledStep> LoadTestStep(
    const std::string& name, const std::shared_ptr<ExportedModel>& model) {
  return OrThrow(LoadCompiledStep(kFolder + name + ".pt2", model));
}

DatasetPtr CornerImages(int64_t count) {
  at::manual_seed(7);
  const at::Tensor labels = at::randint(4, {count}, at::kLong);
  const at::Tensor corners = at::one_hot(labels, 4)
                                 .view({count, 1, 2, 2})
                                 .repeat_interleave(6, 2)
                                 .repeat_interleave(6, 3);
  const at::Tensor images = at::randn({count, 1, 12, 12}).add(corners.mul(2));
  return MakeTensorDataset(Example{images, labels});
}

RunOutcome TrainOnCorners(Trainer& trainer, Optimizer& optimizer,
                          TrainOptions options, std::optional<int64_t> stop_at,
                          const std::string& accuracy) {
  int64_t steps = 0;
  trainer.Add(On<StepEnd>([&](const StepEnd&, Control& control) {
    if (++steps == stop_at) control.RequestStop("the test says so");
  }));
  options.data = CornerImages(40);
  options.eval_data = CornerImages(40);
  options.seed = 3;
  trainer.Train(options);
  std::vector<NamedTensor> state = trainer.task().NamedTensors();
  for (NamedTensor& item : optimizer.NamedTensors()) {
    state.push_back(std::move(item));
  }
  return {.crc = StateCrc32c(state),
          .losses = trainer.history().Values("train_loss"),
          .accuracies = trainer.history().Values(accuracy)};
}

void ExpectResumesToTheBit(
    const std::function<RunOutcome(const TrainOptions& options,
                                   std::optional<int64_t> stop_at)>& train,
    const TrainOptions& options, const std::vector<int64_t>& stops) {
  const RunOutcome straight = train(options, std::nullopt);
  const std::string folder = ::testing::TempDir() + "/resumed_run";
  TrainOptions saved = options;
  saved.checkpoint = {.directory = folder, .save = Every(Batches(4))};
  saved.resume = Resume::kIfPresent;
  for (const int64_t stop : stops) {
    SCOPED_TRACE(::testing::Message() << "stopped at " << stop);
    std::filesystem::remove_all(folder);
    EXPECT_NE(train(saved, stop).losses, straight.losses);
    const RunOutcome resumed = train(saved, std::nullopt);
    EXPECT_EQ(resumed.crc, straight.crc);
    EXPECT_EQ(resumed.losses, straight.losses);
    EXPECT_EQ(resumed.accuracies, straight.accuracies);
  }
}

}  // namespace trainyard
