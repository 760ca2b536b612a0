// What a training step of several ranks costs on a device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "backends/amp.h"
#include "backends/ddp.h"
#include "backends/single_process.h"
#include "backends/testing/counted_backend.h"
#include "backends/testing/rank_group.h"
#include "tools/launch/testing/test_rank.h"
#include "trainer/testing/hot_path.h"

namespace trainyard {
namespace {

using ::testing::IsEmpty;

std::unique_ptr<Backend> MakeDdp() {
  return MakeDdpBackend(RankGroup(),
                        MakeSingleProcessBackend(at::Device(TestDevice())));
}

TEST(HotPathDdpTest, AStepWaitsForNothingAndCopiesNothingBack) {
  CountedBackend backend(MakeDdp());
  const StepCosts costs =
      MeasureSteps(backend, "ddp", {.counting = &backend.counting()});
  EXPECT_THAT(costs.waits, IsEmpty());
  EXPECT_EQ(costs.counts.copies_to_host, 0);
  EXPECT_EQ(costs.counts.copies_to_device, 2 * costs.steps);
  // The gradients, in one bucket.
  EXPECT_EQ(costs.counts.collectives, costs.steps);
  EXPECT_EQ(costs.blocking_collectives, 0);
}

TEST(HotPathDdpTest, CallbacksWaitForNothing) {
  CountedBackend backend(MakeDdp());
  const StepCosts costs = MeasureSteps(
      backend, "ddp", {.callbacks = true, .counting = &backend.counting()});
  EXPECT_THAT(costs.waits, IsEmpty());
  EXPECT_LE(costs.counts.copies_to_host, costs.steps / 10 + 4);
  EXPECT_EQ(costs.counts.collectives, costs.steps);
  EXPECT_EQ(costs.blocking_collectives, 0);
}

TEST(HotPathDdpTest, AStepInFp16WaitsForNothing) {
  CountedBackend backend(MakeAmpBackend(MakeDdp(), {.dtype = at::kHalf}));
  const StepCosts costs =
      MeasureSteps(backend, "ddp-amp fp16",
                   {.callbacks = true, .counting = &backend.counting()});
  EXPECT_THAT(costs.waits, IsEmpty());
  EXPECT_EQ(costs.counts.collectives, costs.steps);
  EXPECT_EQ(costs.blocking_collectives, 0);
}

}  // namespace
}  // namespace trainyard
