#include "callbacks/testing/callback_conformance.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/equal.h>
#include <gmock/gmock.h>

#include <string>
#include <variant>
#include <vector>

#include "callbacks/testing/fake_run.h"
#include "tools/testing/error_of.h"
#include "trainer/state.h"
#include "trainer/state_tensor.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

at::Tensor GeneratorState() {
  return at::detail::getDefaultCPUGenerator().get_state();
}

void ExpectSame(const State& a, const State& b) {
  EXPECT_EQ(a.version(), b.version());
  ASSERT_EQ(a.values().size(), b.values().size());
  auto other = b.values().begin();
  for (const auto& [name, value] : a.values()) {
    EXPECT_EQ(name, other->first);
    using Pointer = std::shared_ptr<const at::Tensor>;
    if (std::holds_alternative<Pointer>(value)) {
      EXPECT_TRUE(at::equal(GetTensor(a, name), GetTensor(b, name))) << name;
    } else {
      EXPECT_EQ(value, other->second) << name;
    }
    ++other;
  }
}

// Better from batch to batch and from epoch to epoch: nothing to stop for.
FakeRunOptions Improving() {
  return {
      .loss = [](int64_t batch) { return 1.0 / static_cast<double>(batch); },
      .eval =
          [](int64_t epoch) {
            return Metrics{{"eval_loss", 1.0 / static_cast<double>(epoch)}};
          }};
}

TEST_P(CallbackConformanceTest, RunsTwice) {
  FakeRun run(Improving());
  const std::unique_ptr<Callback> callback = GetParam().make(run.seconds());
  run.Add(*callback);
  EXPECT_EQ(run.Play(), RunEnding::kFinished) << run.message();
  EXPECT_EQ(run.Play(), RunEnding::kFinished) << run.message();
}

TEST_P(CallbackConformanceTest, BothOfTwoRunsRecordTheSameMetrics) {
  FakeRun run(Improving());
  const std::unique_ptr<Callback> callback = GetParam().make(run.seconds());
  run.Add(*callback);
  run.Play();
  const std::vector<std::string> names = run.history().Names();
  std::vector<size_t> sizes;
  for (const auto& name : names)
    sizes.push_back(run.history().Values(name).size());
  run.Play();
  EXPECT_EQ(run.history().Names(), names);
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(run.history().Values(names[i]).size(), sizes[i]) << names[i];
  }
}

TEST_P(CallbackConformanceTest, SurvivesARunWithNoEvents) {
  FakeRun run;
  const std::unique_ptr<Callback> callback = GetParam().make(run.seconds());
  run.Add(*callback);
  EXPECT_EQ(run.PlayNothing(), RunEnding::kFinished) << run.message();
  EXPECT_EQ(run.Play(), RunEnding::kFinished) << run.message();
}

TEST_P(CallbackConformanceTest, SurvivesEvaluationsWithinEpochsAndAtTheEnd) {
  FakeRunOptions options = Improving();
  options.num_epochs = 3;
  options.eval_every_epochs = 2;
  options.eval_within_epoch_at = 2;
  options.eval = [count = 0.0](int64_t) mutable {
    return Metrics{{"eval_loss", 1 / ++count}};
  };
  FakeRun run(options);
  const std::unique_ptr<Callback> callback = GetParam().make(run.seconds());
  run.Add(*callback);
  EXPECT_EQ(run.Play(), RunEnding::kFinished) << run.message();
}

TEST_P(CallbackConformanceTest, SurvivesAnEvaluationAtTheStart) {
  FakeRunOptions options = Improving();
  options.evaluate_at_start = true;
  options.eval = [](int64_t epoch) {
    return Metrics{{"eval_loss", 1.0 / static_cast<double>(epoch + 1)}};
  };
  FakeRun run(options);
  const std::unique_ptr<Callback> callback = GetParam().make(run.seconds());
  run.Add(*callback);
  EXPECT_EQ(run.Play(), RunEnding::kFinished) << run.message();
}

TEST_P(CallbackConformanceTest, SurvivesAFailedRun) {
  FakeRunOptions options = Improving();
  options.fail_at_batch = 6;
  FakeRun run(options);
  const std::unique_ptr<Callback> callback = GetParam().make(run.seconds());
  run.Add(*callback);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(run.Play(), RunEnding::kError);
    EXPECT_EQ(run.message(), "no memory");
  }
}

TEST_P(CallbackConformanceTest, SurvivesAStoppedRun) {
  FakeRun run(Improving());
  const std::unique_ptr<Callback> callback = GetParam().make(run.seconds());
  run.Add(*callback);
  run.Add(On<StepEnd>([](const StepEnd& e, Control& control) {
            if (e.clock.epoch() == 1) control.RequestStop("enough");
          }),
          {.duplicates = Duplicates::kAllow});
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(run.Play(), RunEnding::kStopped) << run.message();
    EXPECT_EQ(run.message(), "enough");
  }
}

TEST_P(CallbackConformanceTest, SurvivesEvaluationsOutsideOfRuns) {
  FakeRun run(Improving());
  const std::unique_ptr<Callback> callback = GetParam().make(run.seconds());
  run.Add(*callback);
  run.PlayEvaluation();
  EXPECT_EQ(run.Play(), RunEnding::kFinished) << run.message();
  run.PlayEvaluation();
}

// Saved by one object and loaded by another, which begins the rest of the run.
TEST_P(CallbackConformanceTest, ItsStateComesBack) {
  State state;
  {
    FakeRun run(Improving());
    const std::unique_ptr<Callback> callback = GetParam().make(run.seconds());
    const auto* stateful = dynamic_cast<Stateful*>(callback.get());
    if (stateful == nullptr) GTEST_SKIP() << "it has no state";
    run.Add(*callback);
    EXPECT_EQ(run.Play(), RunEnding::kFinished) << run.message();
    state = stateful->SaveState();
  }
  FakeRun rest(Improving());
  const std::unique_ptr<Callback> callback = GetParam().make(rest.seconds());
  auto& stateful = dynamic_cast<Stateful&>(*callback);
  State unknown(/*version=*/1000);
  for (const auto& [name, value] : state.values()) unknown.Set(name, value);
  EXPECT_THAT(ErrorOf([&] { stateful.LoadState(unknown); }),
              HasSubstr("version 1000"));
  stateful.LoadState(state);
  rest.Add(*callback);
  EXPECT_EQ(rest.PlayNothing(/*resumed=*/true), RunEnding::kFinished)
      << rest.message();
  ExpectSame(stateful.SaveState(), state);
}

TEST_P(CallbackConformanceTest, LeavesTheRandomGeneratorAlone) {
  FakeRun run(Improving());
  const at::Tensor before = GeneratorState();
  const std::unique_ptr<Callback> callback = GetParam().make(run.seconds());
  run.Add(*callback);
  run.Play();
  EXPECT_TRUE(at::equal(GeneratorState(), before));
}

}  // namespace
}  // namespace trainyard
