// Runs over a stream of unknown length.
#include <ATen/ops/equal.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "schedulers/cosine.h"
#include "trainer/checkpoint/testing/memory_folder.h"
#include "trainer/error_message.h"
#include "trainer/testing/line_rig.h"
#include "trainer/testing/line_stream.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Outcome {
  RunResult result;
  at::Tensor weight;
  std::vector<double> train_losses, eval_losses;
};

Outcome Train(const TrainOptions& options, int64_t stop_at = -1) {
  LineRig rig;
  int64_t batches = 0;
  rig.trainer().Add(On<StepEnd>([&](const StepEnd&, Control& control) {
    if (++batches == stop_at) control.RequestStop("the test says so");
  }));
  Outcome outcome{.result = rig.trainer().Train(options)};
  outcome.weight = rig.weight();
  outcome.train_losses = rig.trainer().history().Values("train_loss");
  outcome.eval_losses = rig.trainer().history().Values("eval_loss");
  return outcome;
}

// 14 points in batches of 3 and windows of 2 batches: 5 batches and 3 updates
// per epoch. 8 updates end within the third epoch, after 14 batches.
TrainOptions Options() {
  return {.source = LineStream(14),
          .eval_sets = {{.name = "eval", .source = LineStream(7)}},
          .length = Updates(8),
          .per_device_batch_size = 3,
          .grad_accum_steps = 2,
          .schedule = Cosine({.warmup = Updates(2)}),
          .evaluate = Every(Batches(4)),
          .seed = 5};
}

TEST(StreamTest, TrainsByUpdatesAndEvaluates) {
  LineRig rig;
  std::vector<std::optional<int64_t>> announced;
  rig.trainer().Add(On<EpochStart>([&](const EpochStart& e, Control&) {
    announced.push_back(e.num_batches);
  }));
  std::vector<int64_t> updates_after_batch;
  rig.trainer().Add(On<StepEnd>([&](const StepEnd& e, Control&) {
    updates_after_batch.push_back(e.clock.updates());
  }));
  std::optional<RunConfig> config;
  rig.trainer().Add(
      On<RunStart>([&](const RunStart& e, Control&) { config = e.config; }));
  const RunResult result = rig.trainer().Train(Options());
  EXPECT_EQ(result.ending, RunEnding::kFinished);
  EXPECT_EQ(result.clock.updates(), 8);
  EXPECT_EQ(result.clock.epoch(), 3);
  // The fifth batch, the last of its epoch, ends a window of its own.
  EXPECT_THAT(updates_after_batch,
              ElementsAre(0, 1, 1, 2, 3, 3, 4, 4, 5, 6, 6, 7, 7, 8));
  EXPECT_THAT(announced, ElementsAre(std::nullopt, std::nullopt, std::nullopt));
  EXPECT_EQ(config->batches_per_epoch, std::nullopt);
  EXPECT_EQ(config->num_epochs, std::nullopt);
  EXPECT_EQ(config->loader, "own source");
  // After batches 4, 8 and 12, and at the end.
  EXPECT_EQ(rig.trainer().history().Values("eval_loss").size(), 4U);
}

TEST(StreamTest, ResumesAtEveryBatchToTheBit) {
  const std::string folder = MemoryFolder() + "/stream";
  for (const int64_t workers : {0, 1}) {
    TrainOptions options = Options();
    options.loader.num_workers = workers;
    const Outcome straight = Train(options);
    options.checkpoint = {.directory = folder};
    options.resume = Resume::kIfPresent;
    for (int64_t stop = 1; stop < 14; ++stop) {
      std::filesystem::remove_all(folder);
      const Outcome stopped = Train(options, stop);
      EXPECT_EQ(stopped.result.ending, RunEnding::kStopped);
      const Outcome resumed = Train(options);
      EXPECT_EQ(resumed.result.ending, RunEnding::kFinished);
      EXPECT_TRUE(at::equal(resumed.weight, straight.weight)) << stop;
      EXPECT_EQ(resumed.train_losses, straight.train_losses) << stop;
      EXPECT_EQ(resumed.eval_losses, straight.eval_losses) << stop;
      EXPECT_EQ(resumed.result.clock.samples(),
                straight.result.clock.samples());
    }
  }
}

TEST(StreamTest, AFinishedRunHasNothingLeftToTrain) {
  const std::string folder = MemoryFolder() + "/finished_stream";
  std::filesystem::remove_all(folder);
  TrainOptions options = Options();
  options.checkpoint = {.directory = folder};
  options.resume = Resume::kIfPresent;
  const Outcome once = Train(options);
  const Outcome twice = Train(options);
  EXPECT_THAT(twice.result.message, HasSubstr("nothing left to train"));
  EXPECT_TRUE(at::equal(twice.weight, once.weight));
}

TEST(StreamTest, EpochsMayLimitTheRunToo) {
  TrainOptions options = Options();
  options.at_most = Epochs(2);
  const Outcome outcome = Train(options);
  EXPECT_EQ(outcome.result.clock.updates(), 6);
  EXPECT_EQ(outcome.result.clock.epoch(), 2);
}

TEST(StreamTest, EpochsMayBeShortened) {
  TrainOptions options = Options();
  options.at_most = Epochs(2);
  options.max_batches_per_epoch = 3;
  EXPECT_EQ(Train(options).result.clock.batches(), 6);
}

TEST(StreamTest, RejectsRunsOfUnknownLengthThatNeedIt) {
  const auto error_of = [](const TrainOptions& options) {
    try {
      Train(options);
    } catch (const c10::ValueError& error) {
      return ErrorMessage(error);
    }
    return std::string("trained");
  };
  TrainOptions endless = Options();
  endless.length = Epochs(2);
  EXPECT_THAT(error_of(endless),
              HasSubstr("length of the training data is unknown; set "
                        "length or at_most to Updates(n)"));
  TrainOptions half = Options();
  half.at_most = Epochs(0.5);
  EXPECT_THAT(error_of(half), HasSubstr("0.5 epochs is not a whole number"));
  TrainOptions by_epoch = Options();
  by_epoch.schedule = {};
  by_epoch.schedules = {{.schedule = Cosine(), .step_on = StepOn::kEpoch}};
  EXPECT_THAT(error_of(by_epoch), HasSubstr("set step_on to kUpdate"));
  TrainOptions empty = Options();
  empty.source = LineStream(0);
  EXPECT_THAT(error_of(empty), HasSubstr("epoch 1 has no batches"));
  TrainOptions none = Options();
  none.source = [](const LoaderRequest&) { return nullptr; };
  EXPECT_THAT(error_of(none), HasSubstr("the source of batches is null"));
}

}  // namespace
}  // namespace trainyard
