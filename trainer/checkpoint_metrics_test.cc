// A checkpoint has the metrics of its own weights, or none: what is kept as the
// best is the best.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "trainer/checkpoint/store.h"
#include "trainer/or_throw.h"
#include "trainer/testing/line_rig.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

class CheckpointMetricsTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(folder_); }

  // 20 updates; evaluated after every fifth, saved after every second.
  TrainOptions Options(RetentionOptions keep) const {
    return {.data = LinePoints(20),
            .eval_data = LinePoints(5),
            .length = Epochs(4),
            .per_device_batch_size = 4,
            .evaluate = Every(Batches(5)),
            .checkpoint = {
                .directory = folder_, .save = Every(Batches(2)), .keep = keep}};
  }

  std::vector<StepInfo> Steps() const {
    return OrThrow(OrThrow(CheckpointStore::Open(
                               {.directory = folder_, .access = Access::kRead}))
                       ->List());
  }

  const std::string folder_ = ::testing::TempDir() + "/checkpoint_metrics";
};

TEST_F(CheckpointMetricsTest, AreThoseOfTheWeightsThatAreSaved) {
  LineRig rig;
  std::map<int64_t, double> measured;
  rig.trainer().Add(On<EvalEnd>([&](const EvalEnd& e, Control&) {
    measured[e.clock.updates()] = e.metrics.at("eval_loss");
  }));
  rig.trainer().Train(Options({.last = std::nullopt}));
  int with_metrics = 0;
  for (const StepInfo& step : Steps()) {
    if (measured.contains(step.step)) {
      ++with_metrics;
      EXPECT_EQ(step.metrics.at("eval_loss"), measured.at(step.step));
    } else {
      EXPECT_TRUE(step.metrics.empty()) << "step " << step.step;
    }
  }
  EXPECT_EQ(with_metrics, 2);  // steps 10 and 20
}

// The weights get worse after update 10, and the metric of it is the newest
// until update 15.
TEST_F(CheckpointMetricsTest, TheBestIsKeptAndNotOneSavedLater) {
  LineRig rig;
  rig.trainer().Add(On<UpdateEnd>([&](const UpdateEnd& e, Control&) {
    if (e.clock.updates() == 10) rig.optimizer().Field(0, "lr") = 10;
  }));
  rig.trainer().Train(Options({.last = 1, .best = 1, .metric = "eval_loss"}));
  std::vector<int64_t> steps;
  for (const StepInfo& step : Steps()) steps.push_back(step.step);
  EXPECT_EQ(steps, (std::vector<int64_t>{10, 20}));
}

}  // namespace
}  // namespace trainyard
