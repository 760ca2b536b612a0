// FakeRun fires the events of the real loop: in the same order, with the same
// counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "callbacks/testing/event_recorder.h"
#include "callbacks/testing/fake_run.h"
#include "trainer/checkpoint/testing/memory_folder.h"
#include "trainer/testing/line_rig.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using Log = std::vector<std::string>;

struct ParityCase {
  std::string name;
  int64_t grad_accum_steps = 1;
  int64_t eval_every_epochs = 1;
  std::optional<int64_t> eval_within_epoch_at = std::nullopt;
  bool evaluate_at_start = false;
  // Adds what stops or fails the run to a FakeRun or a Trainer.
  std::function<void(CallbackHandler& handler)> disturb = [](CallbackHandler&) {
  };
};

constexpr int64_t kEpochs = 3, kBatches = 4, kBatchSize = 8;

FakeRunOptions FakeOptions(const ParityCase& tested) {
  return {.num_epochs = kEpochs,
          .batches_per_epoch = kBatches,
          .eval_batches = 2,
          .eval_within_epoch_at = tested.eval_within_epoch_at,
          .eval_every_epochs = tested.eval_every_epochs,
          .evaluate_at_start = tested.evaluate_at_start,
          .batch_size = kBatchSize,
          .grad_accum_steps = tested.grad_accum_steps};
}

TrainOptions RealOptions(const ParityCase& tested) {
  const auto due = [tested](const Progress& now) {
    const int64_t in_epoch = now.batches % kBatches;
    if (in_epoch != 0) return in_epoch == tested.eval_within_epoch_at;
    // Asked before the epoch is counted, too.
    return now.epochs * kBatches == now.batches &&
           now.epochs % tested.eval_every_epochs == 0;
  };
  return {.data = LinePoints(kBatches * kBatchSize),
          .eval_data = LinePoints(2 * kBatchSize),
          .length = Epochs(kEpochs),
          .per_device_batch_size = kBatchSize,
          .grad_accum_steps = tested.grad_accum_steps,
          .evaluate = When(due),
          .evaluate_at_start = tested.evaluate_at_start,
          .report = Every(Batches(1))};
}

class FakeRunParityTest : public ::testing::TestWithParam<ParityCase> {};

TEST_P(FakeRunParityTest, FiresTheEventsOfTheTrainer) {
  FakeRun fake(FakeOptions(GetParam()));
  EventRecorder& of_fake = fake.Add(EventRecorder());
  GetParam().disturb(fake.callbacks());
  fake.Play();
  LineRig rig;
  EventRecorder& of_trainer = rig.trainer().Add(EventRecorder());
  GetParam().disturb(rig.trainer().callbacks());
  try {
    rig.trainer().Train(RealOptions(GetParam()));
  } catch (const CallbackError&) {
    // The recorder has it.
  }
  EXPECT_EQ(of_fake.log(), of_trainer.log());
  EXPECT_GT(of_trainer.log().size(), 5);
}

template <class Event>
std::function<void(CallbackHandler&)> StopOn(
    std::function<bool(const Event& event)> when) {
  return [when](CallbackHandler& handler) {
    handler.Add(On<Event>([when](const Event& event, Control& control) {
                  if (when(event)) control.RequestStop("enough");
                }),
                {.duplicates = Duplicates::kAllow});
  };
}

INSTANTIATE_TEST_SUITE_P(
    All, FakeRunParityTest,
    ::testing::Values(
        ParityCase{.name = "Plain"},
        ParityCase{.name = "Accumulation", .grad_accum_steps = 3},
        ParityCase{.name = "RareEvaluation", .eval_every_epochs = 2},
        ParityCase{.name = "EvaluationWithinEpochs",
                   .grad_accum_steps = 2,
                   .eval_within_epoch_at = 3},
        ParityCase{.name = "EvaluationAtStart", .evaluate_at_start = true},
        ParityCase{
            .name = "StopAtStart",
            .disturb = StopOn<RunStart>([](const RunStart&) { return true; })},
        ParityCase{.name = "StopWithinAnEpoch",
                   .grad_accum_steps = 2,
                   .disturb = StopOn<StepEnd>([](const StepEnd& e) {
                     return e.clock.batches() == 6;
                   })},
        ParityCase{.name = "StopAtTheLastBatchOfAnEpoch",
                   .disturb = StopOn<StepEnd>([](const StepEnd& e) {
                     return e.clock.batches() == 4;
                   })},
        ParityCase{.name = "StopAtTheEndOfAnEpoch",
                   .disturb = StopOn<EpochEnd>([](const EpochEnd& e) {
                     return e.clock.epoch() == 1;
                   })},
        ParityCase{.name = "StopAtTheEndOfTheRun",
                   .disturb = StopOn<EpochEnd>([](const EpochEnd& e) {
                     return e.clock.epoch() == 2;
                   })},
        ParityCase{.name = "StopInAnEvaluation",
                   .eval_within_epoch_at = 2,
                   .disturb = StopOn<EvalEnd>([](const EvalEnd& e) {
                     return e.clock.batches() == 2;
                   })},
        ParityCase{.name = "StopAtTheStartOfAnEpoch",
                   .disturb = StopOn<EpochStart>([](const EpochStart& e) {
                     return e.clock.epoch() == 1;
                   })},
        ParityCase{.name = "Failure",
                   .disturb =
                       [](CallbackHandler& handler) {
                         handler.Add(
                             On<StepEnd>([](const StepEnd& e, Control&) {
                               if (e.clock.batches() == 5) {
                                 throw std::runtime_error("no luck");
                               }
                             }));
                       }}),
    [](const auto& tested) { return tested.param.name; });

// Both are stopped after the first epoch, and resumed.
TEST(FakeRunResumeTest, FiresTheEventsOfTheTrainer) {
  const ParityCase tested{.name = "Resumed"};
  const auto stop = StopOn<EpochEnd>([](const EpochEnd&) { return true; });
  FakeRun first(FakeOptions(tested));
  stop(first.callbacks());
  EXPECT_EQ(first.Play(), RunEnding::kStopped);
  FakeRun rest(FakeOptions(tested));
  EventRecorder& of_fake = rest.Add(EventRecorder());
  EXPECT_EQ(rest.PlayResumed(first.clock()), RunEnding::kFinished);

  TrainOptions options = RealOptions(tested);
  options.checkpoint.directory = MemoryFolder() + "/parity";
  options.resume = Resume::kIfPresent;
  LineRig before, after;
  stop(before.trainer().callbacks());
  EXPECT_EQ(before.trainer().Train(options).ending, RunEnding::kStopped);
  EventRecorder& of_trainer = after.trainer().Add(EventRecorder());
  after.trainer().Train(options);
  EXPECT_EQ(of_fake.log(), of_trainer.log());
  EXPECT_THAT(of_trainer.log(), ::testing::SizeIs(::testing::Gt(40)));
}

}  // namespace
}  // namespace trainyard
