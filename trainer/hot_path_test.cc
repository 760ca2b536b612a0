// What a training step costs on a device: in steady state the host neither
// waits for the device nor copies from it.
#include <ATen/core/Tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "backends/testing/standin/standin.h"
#include "callbacks/callback.h"
#include "callbacks/printing/progress_bar.h"
#include "schedulers/linear.h"
#include "trainer/optim/clip.h"
#include "trainer/testing/line_rig.h"
#include "trainer/train_options.h"

namespace trainyard {
namespace {

using ::testing::IsEmpty;

constexpr int64_t kWarmUp = 5;
constexpr int64_t kSteps = 20;

// Counts from the end of the warm-up to the end of the last step.
class Counter final : public Callback {
 public:
  // After all others.
  int priority() const override { return 1000; }
  void OnStepEnd(const StepEnd& e, Control&) override {
    if (e.clock.batches() == kWarmUp) ResetStandInCounts();
    if (e.clock.batches() == kSteps) {
      counts = StandInCounts();
      waits = StandInSynchronizations();
    }
  }
  StandInCount counts;
  std::vector<std::string> waits;
};

class HotPathTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!StandInIsRegistered()) GTEST_SKIP() << "only the stand-in counts";
  }

  TrainOptions Options() const {
    return {.data = LinePoints(8 * (kSteps + 2)),
            .length = Epochs(1),
            .clip = ClipNorm(1),
            .schedule = Linear({.end_ratio = 0.5})};
  }

  LineRig rig_;
  Counter counter_;
};

TEST_F(HotPathTest, AStepWaitsForNothingAndCopiesNothingBack) {
  rig_.trainer().Add(counter_);
  rig_.trainer().Train(Options());
  EXPECT_THAT(counter_.waits, IsEmpty());
  EXPECT_EQ(counter_.counts.copies_to_host, 0);
  // The batch: inputs and targets.
  EXPECT_EQ(counter_.counts.copies_to_device, 2 * (kSteps - kWarmUp));
}

TEST_F(HotPathTest, AProgressBarReadsWithoutAWait) {
  std::FILE* const nowhere = std::fopen("/dev/null", "w");
  // Draws at every step, which is more than it ever does.
  ProgressBar bar(
      {.output = nowhere, .force_terminal = true, .redraw_seconds = 0});
  rig_.trainer().Add(bar);
  rig_.trainer().Add(counter_);
  rig_.trainer().Train(Options());
  EXPECT_THAT(counter_.waits, IsEmpty());
  EXPECT_GT(counter_.counts.copies_to_host, 0);
  EXPECT_LE(counter_.counts.copies_to_host, kSteps - kWarmUp);
  std::fclose(nowhere);
}

}  // namespace
}  // namespace trainyard
