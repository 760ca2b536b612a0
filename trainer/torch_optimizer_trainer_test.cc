// A trainer with an optimizer of libtorch's. Needs torch/nn: libtorch's
// optimizers include it.
#include <ATen/Context.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/mse_loss.h>
#include <gtest/gtest.h>
#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/make_backend.h"
#include "schedulers/cosine.h"
#include "trainer/checkpoint/state_crc32c.h"
#include "trainer/checkpoint/testing/memory_folder.h"
#include "trainer/data/loader.h"
#include "trainer/data/sampler.h"
#include "trainer/losses.h"
#include "trainer/optim/torch_optimizer.h"
#include "trainer/supervised.h"
#include "trainer/testing/line_rig.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using InnerOptimizer = std::unique_ptr<torch::optim::Optimizer>;
using MakeInner = InnerOptimizer (*)(std::vector<at::Tensor> parameters);

InnerOptimizer Sgd(std::vector<at::Tensor> parameters) {
  return std::make_unique<torch::optim::SGD>(
      std::move(parameters),
      torch::optim::SGDOptions(0.05).momentum(0.9).dampening(0.2));
}

InnerOptimizer Adam(std::vector<at::Tensor> parameters) {
  return std::make_unique<torch::optim::Adam>(
      std::move(parameters), torch::optim::AdamOptions(0.05).amsgrad(true));
}

class StopAt final : public Callback {
 public:
  explicit StopAt(int64_t batches) : left_(batches) {}
  void OnStepEnd(const StepEnd&, Control& control) override {
    if (--left_ == 0) control.RequestStop("the test says so");
  }

 private:
  int64_t left_;
};

// Weights and optimizer state at the end of a run.
uint32_t Train(MakeInner make, const TrainOptions& options, int64_t stop_at,
               uint64_t seed) {
  at::manual_seed(seed);
  TestLinear model(3, 1);
  TorchOptimizer optimizer(make(model->parameters()), *model);
  const auto backend = MakeBackend("sp");
  Trainer trainer(Supervised(model, MeanSquaredError()), optimizer, *backend);
  trainer.Add(StopAt(stop_at));
  trainer.Train(options);
  return StateCrc32c(optimizer.NamedTensors(),
                     StateCrc32c(trainer.task().NamedTensors()));
}

class TorchOptimizerTrainerTest : public ::testing::TestWithParam<MakeInner> {};

TEST_P(TorchOptimizerTrainerTest, ResumesAtEveryBatchToTheBit) {
  const std::string folder = MemoryFolder() + "/torch_optimizer";
  // 5 batches and 3 updates per epoch.
  TrainOptions options{.data = LinePoints(14),
                       .length = Epochs(3),
                       .per_device_batch_size = 3,
                       .grad_accum_steps = 2,
                       .clip = ClipNorm(0.5),
                       .schedule = Cosine({.warmup = Updates(2)}),
                       .seed = 5};
  const uint32_t straight = Train(GetParam(), options, -1, 1);
  options.checkpoint = {.directory = folder};
  options.resume = Resume::kIfPresent;
  for (int64_t stop = 1; stop < 15; ++stop) {
    std::filesystem::remove_all(folder);
    Train(GetParam(), options, stop, 1);
    // Other weights at the start.
    EXPECT_EQ(Train(GetParam(), options, -1, 2), straight)
        << "stopped after batch " << stop;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, TorchOptimizerTrainerTest,
                         ::testing::Values(Sgd, Adam));

TEST(TorchOptimizerLoopTest, TrainsLikeALoopWithoutTheAdapter) {
  const DatasetPtr data = LinePoints(14);
  at::manual_seed(1);
  TestLinear model(3, 1);
  TorchOptimizer optimizer(Sgd(model->parameters()), *model);
  const auto backend = MakeBackend("sp");
  Trainer trainer(Supervised(model, MeanSquaredError()), optimizer, *backend);
  trainer.Train({.data = data,
                 .length = Epochs(3),
                 .per_device_batch_size = 3,
                 .seed = 5});

  at::manual_seed(1);
  TestLinear other(3, 1);
  other->to(backend->device());
  const InnerOptimizer plain = Sgd(other->parameters());
  Loader loader(data, std::make_shared<ShuffledSampler>(14, 5),
                {.batch_size = 3});
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    loader.StartEpoch(epoch);
    while (const std::optional<AnyBatch> batch = loader.Next()) {
      const AnyBatch moved = batch->To(backend->device());
      const Example& example = moved.As<Example>();
      plain->zero_grad();
      at::mse_loss(other->forward(example.input), example.target).backward();
      plain->step();
    }
  }
  EXPECT_TRUE(at::equal(model["weight"], other["weight"]));
  EXPECT_TRUE(at::equal(model["bias"], other["bias"]));
}

TEST(TorchOptimizerLoopTest, HeaderExample) {
  TestLinear model(3, 2);
  const auto backend = MakeBackend("sp");
  TorchOptimizer optimizer(
      std::make_unique<torch::optim::SGD>(
          model->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9)),
      *model);
  Trainer trainer(Supervised(model, CrossEntropy()), optimizer, *backend);
  EXPECT_EQ(optimizer.Field(0, "momentum"), 0.9);
}

}  // namespace
}  // namespace trainyard
