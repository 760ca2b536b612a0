// TrainOptions::loader, with the ready task.
#include <ATen/Context.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/make_backend.h"
#include "trainer/data/datasets/map.h"
#include "trainer/data/load_options.h"
#include "trainer/data/samplers/subset.h"
#include "trainer/losses.h"
#include "trainer/optim/adamw.h"
#include "trainer/supervised.h"
#include "trainer/testing/line_rig.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

struct Outcome {
  at::Tensor weight;
  std::vector<double> train_losses, eval_losses;
  int64_t samples = 0;
  RunConfig config;
};

Outcome Train(const TrainOptions& options) {
  at::manual_seed(1);
  TestLinear model(3, 1);
  AdamW optimizer(*model, {.lr = 0.1});
  const auto backend = MakeBackend("sp");
  Trainer trainer(Supervised(model, MeanSquaredError()), optimizer, *backend);
  Outcome outcome;
  trainer.Add(On<RunStart>(
      [&](const RunStart& e, Control&) { outcome.config = e.config; }));
  outcome.samples = trainer.Train(options).clock.samples();
  outcome.weight = model["weight"].detach().clone();
  outcome.train_losses = trainer.history().Values("train_loss");
  outcome.eval_losses = trainer.history().Values("eval_loss");
  return outcome;
}

// Points with noise that depends on epoch and sample.
DatasetPtr Noisy(int64_t size) {
  return MapBatches<Example>(
      LinePoints(size),
      [](Example e, BatchRandom& random) {
        at::Tensor input = e.input.clone();
        for (int64_t row = 0; row < input.size(0); ++row)
          input[row].add_(random[static_cast<size_t>(row)].Normal());
        return Example{input, e.target};
      },
      /*seed=*/3);
}

TrainOptions Options() {
  return {.data = Noisy(17),
          .eval_data = Noisy(7),
          .length = Epochs(3),
          .per_device_batch_size = 4,
          .seed = 5};
}

// An evaluation of seven records in batches of four, the last one padded.
TEST(LoadInRunTest, PaddedRecordsAreNotEvaluated) {
  TrainOptions options = Options();
  const Outcome plain = Train(options);
  options.eval_loader = {.last_batch = LastBatch::kPad};
  EXPECT_EQ(Train(options).eval_losses, plain.eval_losses);
}

TEST(LoadInRunTest, WorkersChangeNoBit) {
  const Outcome plain = Train(Options());
  for (const int64_t workers : {1, 2}) {
    TrainOptions options = Options();
    options.loader = {.num_workers = workers, .prefetch = 3};
    const Outcome outcome = Train(options);
    EXPECT_TRUE(at::equal(outcome.weight, plain.weight)) << workers;
    EXPECT_EQ(outcome.train_losses, plain.train_losses);
    EXPECT_EQ(outcome.eval_losses, plain.eval_losses);
  }
}

TEST(LoadInRunTest, LastBatchSamplerAndCollateAreUsed) {
  TrainOptions options = Options();
  options.loader = {.last_batch = LastBatch::kDrop};
  EXPECT_EQ(Train(options).samples, 3 * 16);
  options.loader = {.sampler = std::make_shared<SubsetSampler>(
                        at::tensor({3, 1, 4, 1, 5}, at::kLong))};
  const Outcome chosen = Train(options);
  EXPECT_EQ(chosen.samples, 3 * 5);
  int64_t collated = 0;
  options.loader.collate = [&](std::vector<AnyBatch> samples) {
    ++collated;
    return ConcatBatches(samples);
  };
  EXPECT_TRUE(at::equal(Train(options).weight, chosen.weight));
  // Two batches in each of 3 epochs, and in each of 3 evaluations.
  EXPECT_EQ(collated, 12);
}

// Evaluation sees every sample once, whatever training does.
TEST(LoadInRunTest, EvaluationHasOptionsOfItsOwn) {
  TrainOptions options = Options();
  const Outcome plain = Train(options);
  options.eval_loader = {.num_workers = 1};
  EXPECT_EQ(Train(options).eval_losses, plain.eval_losses);
  options.eval_loader = {.last_batch = LastBatch::kDrop};
  EXPECT_NE(Train(options).eval_losses, plain.eval_losses);
}

TEST(LoadInRunTest, TheConfigurationNamesThem) {
  TrainOptions options = Options();
  options.loader = {.num_workers = 2, .last_batch = LastBatch::kDrop};
  const RunConfig config = Train(options).config;
  EXPECT_EQ(config.loader, "workers 2, prefetch 4, last batch dropped");
  EXPECT_EQ(config.eval_loader, "workers 2, prefetch 4, last batch uneven");
}

TEST(LoadInRunTest, EvaluateLoadsAsTheRunDid) {
  LineRig rig;
  TrainOptions options = Options();
  options.loader = {.num_workers = 1};
  rig.trainer().Train(options);
  const Metrics with = rig.trainer().Evaluate(Noisy(7), 4);
  LineRig plain;
  plain.trainer().Train(Options());
  EXPECT_EQ(with, plain.trainer().Evaluate(Noisy(7), 4));
}

}  // namespace
}  // namespace trainyard
