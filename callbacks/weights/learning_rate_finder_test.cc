#include "callbacks/weights/learning_rate_finder.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/rand.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <stdexcept>

#include "callbacks/testing/callback_conformance.h"
#include "callbacks/testing/fake_run.h"
#include "trainer/optim/adamw.h"
#include "trainer/run_clock.h"
#include "trainer/testing/line_rig.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

const LrCurveOptions kOptions = {.min_lr = 1e-4, .max_lr = 100, .updates = 40};

TrainOptions Short(int64_t epochs) {
  return {.data = LinePoints(16),
          .length = Epochs(epochs),
          .per_device_batch_size = 4,
          .grad_accum_steps = 2};
}

TEST(LearningRateFinderTest, TheTrialLeavesNothingBehind) {
  LineRig tried, plain;
  LearningRateFinder finder(tried.optimizer(),
                            tried.trainer().task().NamedTensors(), kOptions);
  tried.trainer().Add(finder);
  const at::Tensor weight = tried.weight();
  const TrainOptions options = Short(1000);
  const at::Tensor random = at::detail::getDefaultCPUGenerator().get_state();
  tried.trainer().Add(On<StepStart>([](const StepStart&, Control&) {
    at::rand({1});  // as dropout would
  }));
  const RunResult trial = tried.trainer().Train(options);
  EXPECT_EQ(trial.ending, RunEnding::kStopped);
  EXPECT_THAT(trial.message, HasSubstr("learning rates were tried"));
  EXPECT_TRUE(at::equal(tried.weight(), weight));
  EXPECT_EQ(tried.optimizer().Field(0, "lr"), 0.1);
  EXPECT_TRUE(
      at::equal(at::detail::getDefaultCPUGenerator().get_state(), random));
  // An ordinary run now, as if there had been none before.
  EXPECT_EQ(tried.trainer().Train(Short(3)).ending, RunEnding::kFinished);
  plain.trainer().Train(Short(3));
  EXPECT_TRUE(at::equal(tried.weight(), plain.weight()));
}

TEST(LearningRateFinderTest, FindsARateThatLearns) {
  LineRig rig;
  auto& finder = rig.trainer().Add(LearningRateFinder(
      rig.optimizer(), rig.trainer().task().NamedTensors(), kOptions));
  rig.trainer().Train(Short(1000));
  const auto& points = finder.curve().points();
  EXPECT_GT(points.size(), 10);
  EXPECT_DOUBLE_EQ(points[0].lr, 1e-4);
  ASSERT_TRUE(finder.curve().suggestion());
  EXPECT_GT(*finder.curve().suggestion(), 1e-3);
  EXPECT_LT(*finder.curve().suggestion(), 10);
}

// As callbacks/README.md has it.
TEST(LearningRateFinderTest, ReadmeExample) {
  LineRig rig;
  Trainer& trainer = rig.trainer();
  Optimizer& optimizer = rig.optimizer();
  const DatasetPtr train = LinePoints(16);
  auto& finder =
      trainer.Add(LearningRateFinder(optimizer, trainer.task().NamedTensors()));
  trainer.Train(
      {.data = train, .length = Epochs(100)});  // the trial, ends itself
  std::cout << finder.curve().Table();
  optimizer.Field(0, "lr") = finder.curve().suggestion().value_or(1e-3);
  EXPECT_NE(optimizer.Field(0, "lr"), 1e-3);
  EXPECT_EQ(trainer.Train({.data = train, .length = Epochs(1)}).ending,
            RunEnding::kFinished);
}

TEST(LearningRateFinderTest, GroupsKeepTheirRatio) {
  LineRig rig;
  const at::Tensor a = at::rand({2}).requires_grad_();
  const at::Tensor b = at::rand({2}).requires_grad_();
  AdamW optimizer(
      ParamGroups{{.params = {{"a", a}}, .overrides = {{"lr", 0.2}}},
                  {.params = {{"b", b}}, .overrides = {{"lr", 0.1}}}});
  LearningRateFinder finder(optimizer, {{"a", a}, {"b", b}});
  Control control;
  const RunClock clock;
  finder.OnRunStart({{}, clock, /*resumed=*/false, FakeBackend()}, control);
  const AnyBatch batch(Example{a.detach(), b.detach()});
  finder.OnStepStart({clock, batch}, control);
  EXPECT_DOUBLE_EQ(optimizer.Field(0, "lr"), 1e-7);
  EXPECT_DOUBLE_EQ(optimizer.Field(1, "lr"), 0.5e-7);
}

TEST(LearningRateFinderTest, RefusesToBeSaved) {
  LineRig rig;
  rig.trainer().Add(LearningRateFinder(
      rig.optimizer(), rig.trainer().task().NamedTensors(), kOptions));
  TrainOptions options = Short(1000);
  options.checkpoint.directory = ::testing::TempDir() + "/trial";
  const at::Tensor weight = rig.weight();
  EXPECT_ANY_THROW(rig.trainer().Train(options));
  EXPECT_TRUE(at::equal(rig.weight(), weight));
}

TEST(LearningRateFinderTest, NeedsWhatItPutsBack) {
  LineRig rig;
  EXPECT_THROW(LearningRateFinder(rig.optimizer(), {}), std::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(LearningRateFinder, CallbackConformanceTest,
                         ::testing::Values(CallbackCase{
                             "LearningRateFinder",
                             [](SecondsClock) {
                               static LineRig rig;
                               return std::make_unique<LearningRateFinder>(
                                   rig.optimizer(),
                                   rig.trainer().task().NamedTensors());
                             }}),
                         CallbackCaseName);

}  // namespace
}  // namespace trainyard
