// What a training step costs on a device: in steady state the host neither
// waits for the device nor copies from it.
#include "trainer/testing/hot_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "backends/make_backend.h"
#include "backends/testing/standin/standin.h"
#include "callbacks/callback.h"
#include "callbacks/printing/progress_bar.h"
#include "trainer/testing/line_rig.h"
#include "trainer/train_options.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class HotPathTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!StandInIsRegistered()) GTEST_SKIP() << "only the stand-in counts";
  }
};

TEST_F(HotPathTest, AStepWaitsForNothingAndCopiesNothingBack) {
  const auto backend = MakeBackend("sp");
  const StepCosts costs = MeasureSteps(*backend, "sp");
  EXPECT_THAT(costs.waits, IsEmpty());
  EXPECT_EQ(costs.counts.copies_to_host, 0);
  // The batch: inputs and targets.
  EXPECT_EQ(costs.counts.copies_to_device, 2 * costs.steps);
}

// The bar's numbers are copied ten times a second, and not waited for.
TEST_F(HotPathTest, CallbacksWaitForNothing) {
  const auto backend = MakeBackend("sp");
  const StepCosts costs = MeasureSteps(*backend, "sp", {.callbacks = true});
  EXPECT_THAT(costs.waits, IsEmpty());
  EXPECT_GT(costs.counts.copies_to_host, 0);
  EXPECT_LE(costs.counts.copies_to_host, costs.steps / 10 + 4);
  EXPECT_EQ(costs.counts.copies_to_device, 2 * costs.steps);
}

TEST_F(HotPathTest, AStepInFp16WaitsForNothing) {
  const auto backend = MakeBackend("sp-amp", {.amp = {.dtype = at::kHalf}});
  for (const bool callbacks : {false, true}) {
    const StepCosts costs =
        MeasureSteps(*backend, "sp-amp fp16", {.callbacks = callbacks});
    EXPECT_THAT(costs.waits, IsEmpty());
    // The flag of each update, which the host looks at in the next step.
    EXPECT_LE(costs.counts.copies_to_host,
              costs.steps + (callbacks ? costs.steps / 10 + 4 : 0));
    EXPECT_LE(costs.counts.bytes_to_host, 8 * costs.counts.copies_to_host);
  }
}

// The writer's thread waits for the copy; the training does not.
TEST_F(HotPathTest, ACheckpointInTheBackgroundIsNotWaitedFor) {
  const auto backend = MakeBackend("sp");
  const std::string folder = ::testing::TempDir() + "/hot_path";
  std::filesystem::remove_all(folder);
  const StepCosts costs = MeasureSteps(
      *backend, "sp with a checkpoint every 10 steps",
      {.checkpoint = {.directory = folder, .save = Every(Batches(10))}});
  const int64_t checkpoints = costs.steps / 10;
  EXPECT_THAT(costs.waits,
              AllOf(SizeIs(checkpoints), Each("synchronizeEvent")));
}

TEST_F(HotPathTest, AProgressBarReadsWithoutAWait) {
  std::FILE* const nowhere = std::fopen("/dev/null", "w");
  // Draws at every step, which is more than it ever does.
  ProgressBar bar(
      {.output = nowhere, .force_terminal = true, .redraw_seconds = 0});
  LineRig rig;
  rig.trainer().Add(bar);
  int64_t steps = 0;
  rig.trainer().Add(On<StepEnd>([&](const StepEnd&, Control&) {
    if (++steps == 5) ResetStandInCounts();
    if (steps == 20) {
      EXPECT_THAT(StandInSynchronizations(), IsEmpty());
      EXPECT_GT(StandInCounts().copies_to_host, 0);
      EXPECT_LE(StandInCounts().copies_to_host, 15);
    }
  }));
  rig.trainer().Train({.data = LinePoints(8 * 22), .length = Epochs(1)});
  EXPECT_EQ(steps, 22);
  std::fclose(nowhere);
}

}  // namespace
}  // namespace trainyard
