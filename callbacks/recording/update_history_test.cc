#include "callbacks/recording/update_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include "callbacks/testing/callback_conformance.h"
#include "callbacks/testing/fake_run.h"
#include "trainer/testing/clock_at.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// Two updates per epoch, and a report after every batch.
TEST(UpdateHistoryTest, HasAValuePerReport) {
  FakeRun run({.num_epochs = 1,
               .grad_accum_steps = 2,
               .loss = [](int64_t batch) { return 1.0 / batch; }});
  UpdateHistory& history = run.Add(UpdateHistory());
  for (int i = 0; i < 2; ++i) {
    run.Play();
    history.Values("train_loss");
    EXPECT_THAT(history.Names(), ElementsAre("train_loss"));
    EXPECT_THAT(history.Values("train_loss"),
                ElementsAre(Pair(0, 1), Pair(1, 1.0 / 2), Pair(1, 1.0 / 3),
                            Pair(2, 1.0 / 4)));
  }
  EXPECT_THAT(history.Values("other"), IsEmpty());
}

TEST(UpdateHistoryTest, ResumedRunContinuesItsValues) {
  UpdateHistory before, after;
  const RunClock clock = ClockAt({.updates = 3});
  Control control;
  before.OnMetricsReport({clock, {{"train_loss", 0.5}}}, control);
  after.LoadState(before.SaveState());
  after.OnRunStart({{}, clock, /*resumed=*/true, FakeBackend()}, control);
  after.OnMetricsReport({ClockAt({.updates = 4}), {{"train_loss", 0.25}}},
                        control);
  EXPECT_THAT(after.Values("train_loss"),
              ElementsAre(Pair(3, 0.5), Pair(4, 0.25)));
  State damaged;
  damaged.Set("updates/x", std::vector<int64_t>{1});
  damaged.Set("values/x", std::vector<double>{});
  EXPECT_THROW(after.LoadState(damaged), std::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(UpdateHistory, CallbackConformanceTest,
                         ::testing::Values(CallbackCase{
                             "UpdateHistory",
                             [](SecondsClock) {
                               return std::make_unique<UpdateHistory>();
                             }}),
                         CallbackCaseName);

}  // namespace
}  // namespace trainyard
