#include "tools/cli/run_flags.h"

#include <absl/flags/reflection.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "tools/cli/parse_flags.h"
#include "tools/testing/error_of.h"
#include "trainer/optim/clip.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

TrainOptions Applied(const std::string& text, TrainOptions options = {}) {
  const absl::FlagSaver saver;
  SetFlags(text, "run.txt");
  return WithRunFlags(std::move(options));
}

std::string Error(const std::string& text) {
  return ErrorOf([&] { Applied(text); });
}

TEST(RunFlagsTest, HeaderExample) {
  const TrainOptions options = WithRunFlags({.length = Epochs(5)});
  EXPECT_EQ(options.length, Epochs(5));
}

TEST(RunFlagsTest, LeavesWhatIsNotGiven) {
  const TrainOptions options =
      Applied("", {.length = Epochs(5), .grad_accum_steps = 3, .seed = 7});
  EXPECT_EQ(options.length, Epochs(5));
  EXPECT_EQ(options.grad_accum_steps, 3);
  EXPECT_EQ(options.seed, 7);
  EXPECT_EQ(options.evaluate, Every(Epochs(1)));
}

TEST(RunFlagsTest, SetsEveryOption) {
  const TrainOptions options = Applied(R"(
    length: "2.5 epochs"
    at_most: "100 updates"
    per_device_batch_size: 16
    max_micro_batch_size: 4
    grad_accum_steps: 2
    clip_norm: 0.5
    schedule: "cosine --warmup_epochs=0.5"
    max_dropped_updates: 3
    evaluate: "at epochs 1,3"
    evaluate_at_start: true
    eval_per_device_batch_size: 99
    report: never
    checkpoint {
      save: "every 10 updates"
      save_per_node: true
      asynchronous: false
      on_failure: warn
      keep { last: 2 best: 1 metric: "eval_loss" better: higher every: 50 }
    }
    resume: required
    resume_from { step: 12 path: "elsewhere" fresh_optimizers: true }
    loader { prefetch: 5 num_workers: 2 pin_memory: true last_batch: drop }
    max_batches_per_epoch: 6
    max_eval_batches: 7
    reset_history: false
    handle_signals: false
  )");
  EXPECT_EQ(options.length, Epochs(2.5));
  EXPECT_EQ(options.at_most, Updates(100));
  EXPECT_EQ(options.per_device_batch_size, 16);
  EXPECT_EQ(options.max_micro_batch_size, 4);
  EXPECT_EQ(options.grad_accum_steps, 2);
  EXPECT_EQ(ToString(options.clip), "norm 0.5");
  EXPECT_EQ(options.max_dropped_updates, 3);
  EXPECT_EQ(options.evaluate, At(Epochs({1, 3})));
  EXPECT_TRUE(options.evaluate_at_start);
  EXPECT_EQ(options.eval_per_device_batch_size, 99);
  EXPECT_EQ(options.report, Never());
  EXPECT_EQ(options.checkpoint.save, Every(Updates(10)));
  EXPECT_TRUE(options.checkpoint.save_per_node);
  EXPECT_FALSE(options.checkpoint.asynchronous);
  EXPECT_EQ(options.checkpoint.on_failure, CheckpointOptions::Failure::kWarn);
  EXPECT_EQ(options.checkpoint.keep.last, 2);
  EXPECT_EQ(options.checkpoint.keep.best, 1);
  EXPECT_EQ(options.checkpoint.keep.metric, "eval_loss");
  EXPECT_EQ(options.checkpoint.keep.better, Better::kHigher);
  EXPECT_EQ(options.checkpoint.keep.every, 50);
  EXPECT_EQ(options.resume, Resume::kRequired);
  EXPECT_EQ(options.resume_from.step, 12);
  EXPECT_EQ(options.resume_from.path, "elsewhere");
  EXPECT_TRUE(options.resume_from.fresh_optimizers);
  EXPECT_EQ(ToString(options.loader),
            "workers 2, prefetch 5, pinned, last batch dropped");
  EXPECT_EQ(options.max_batches_per_epoch, 6);
  EXPECT_EQ(options.max_eval_batches, 7);
  EXPECT_FALSE(options.reset_history);
  EXPECT_FALSE(options.handle_signals);
  const auto schedules = options.schedule.Resolve(
      {.num_epochs = 2, .updates_per_epoch = 4, .total_updates = 8}, 1);
  // Half of the warm-up, which is two updates long.
  EXPECT_EQ(schedules.at(0)->ValueAt(1, /*base=*/1.0), 0.5);
  EXPECT_EQ(ToString(Applied("clip_value: 2").clip), "value 2");
}

TEST(RunFlagsTest, ParsesPeriods) {
  EXPECT_EQ(ParsePeriod("x", "1 batch"), Every(Batches(1)));
  EXPECT_EQ(ParsePeriod("x", "every 1 epoch"), Every(Epochs(1)));
  EXPECT_EQ(ParsePeriod("x", "at batches 5,1"), At(Batches({1, 5})));
  EXPECT_EQ(ParsePeriod("x", "30 seconds"), Every(Seconds(30)));
  EXPECT_EQ(ParseDuration("x", "1 update"), Updates(1));
  EXPECT_EQ(ParseDuration("x", "2 samples"), Samples(2));
}

TEST(RunFlagsTest, NamesTheFlagAndItsValue) {
  EXPECT_EQ(Error("length: 5"),
            "--length is '5', want a number and a unit, e.g. \"5 epochs\"");
  EXPECT_THAT(Error("length: \"5 epoch s\""), HasSubstr("--length is"));
  EXPECT_EQ(Error("evaluate: \"2 weeks\""),
            "--evaluate is '2 weeks', want a number of batches, updates, "
            "samples, epochs or seconds, e.g. \"5 epochs\"");
  EXPECT_EQ(Error("report: \"-1 batches\""),
            "--report is '-1 batches', want a number above 0 and a unit, e.g. "
            "\"5 epochs\"");
  EXPECT_EQ(Error("resume: maybe"),
            "--resume is 'maybe', want never or if_present or required");
  EXPECT_EQ(Error("clip_norm: 1 clip_value: 1"),
            "both --clip_norm and --clip_value are given");
  EXPECT_THAT(Error("schedule: \"cosin\""), HasSubstr("--schedule is 'cosin'"));
  EXPECT_THAT(Error("schedule: \"cosine --warmup_epoch=1\""),
              HasSubstr("did you mean --warmup_epochs?"));
  EXPECT_THAT(Error("lenght: 5"), HasSubstr("did you mean length?"));
}

}  // namespace
}  // namespace trainyard
