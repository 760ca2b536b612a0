#include "callbacks/recording/throughput.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "callbacks/testing/fake_run.h"

namespace trainyard {
namespace {

TEST(ThroughputTest, RecordsRateWaitAndStepTimes) {
  FakeRun run({.num_epochs = 1,
               .batches_per_epoch = 4,
               .batch_size = 10,
               .data_seconds = 0.25,
               .step_seconds = 0.75});
  run.Add(Throughput({.clock = run.seconds()}));
  run.Play();
  EXPECT_EQ(run.history().Latest("samples_per_second"), 10);
  EXPECT_EQ(run.history().Latest("data_wait"), 0.25);
  EXPECT_EQ(run.history().Latest("step_ms_p50"), 750);
  EXPECT_EQ(run.history().Latest("step_ms_max"), 750);
}

TEST(ThroughputTest, LeavesEvaluationsWithinEpochsOut) {
  FakeRun run({.num_epochs = 2,
               .batches_per_epoch = 4,
               .eval_within_epoch_at = 2,
               .batch_size = 10,
               .data_seconds = 0.25,
               .step_seconds = 0.75,
               .eval_step_seconds = 100});
  run.Add(Throughput({.clock = run.seconds()}));
  run.Play();
  EXPECT_EQ(run.history().Latest("samples_per_second"), 10);
  EXPECT_EQ(run.history().Latest("data_wait"), 0.25);
}

// Steps of 1 to 100 ms, in any order.
TEST(ThroughputTest, PercentilesAreThoseOfTheEpochsSteps) {
  double now = 0;
  FakeRun run({.num_epochs = 1,
               .batches_per_epoch = 100,
               .step_seconds = 0,
               .backward = [&now, batch = 0]() mutable {
                 now += 0.001 * (1 + batch++ * 37 % 100);
               }});
  run.Add(Throughput({.clock = [&now] { return now; }}));
  run.Play();
  EXPECT_NEAR(run.history().Latest("step_ms_p50"), 50, 1e-3);
  EXPECT_NEAR(run.history().Latest("step_ms_p95"), 95, 1e-3);
  EXPECT_NEAR(run.history().Latest("step_ms_max"), 100, 1e-3);
}

TEST(ThroughputTest, RefusesAnEmptyClock) {
  EXPECT_THROW(Throughput({.clock = nullptr}), std::invalid_argument);
}

}  // namespace
}  // namespace trainyard
