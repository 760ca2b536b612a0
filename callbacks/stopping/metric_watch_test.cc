#include "callbacks/stopping/metric_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tracking/run_history.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Metrics kMetrics = {{"eval_loss", 5}};
const std::string kName = "eval";

TEST(MetricWatchTest, TakesEachValueOnce) {
  MetricWatch watch("Test", "eval_loss");
  InMemoryRunHistory history;
  const RunClock clock;
  EXPECT_EQ(watch.Take(EvalEnd{clock, kName, kMetrics}), std::nullopt);
  watch.StartRun();
  history.Update("eval_loss", 5);
  EXPECT_EQ(watch.Take(EvalEnd{clock, kName, kMetrics}), 5);
  EXPECT_THAT(watch.Take(EpochEnd{clock, history}), IsEmpty());
  history.Update("eval_loss", 4);
  history.Update("eval_loss", 3);
  EXPECT_THAT(watch.Take(EpochEnd{clock, history}), ElementsAre(4, 3));
  EXPECT_EQ(watch.taken(), 3);
  // The rest of a run that had taken two.
  watch.StartRun(2);
  EXPECT_THAT(watch.Take(EpochEnd{clock, history}), ElementsAre(3));
}

TEST(MetricWatchTest, AMissingMetricIsAnErrorOfItsOwner) {
  const RunClock clock;
  MetricWatch watch("Test", "loss");
  InMemoryRunHistory history;
  history.Update("eval_loss", 5);
  watch.StartRun();
  EXPECT_THAT(watch.Take(EpochEnd{clock, history}), IsEmpty());  // may yet come
  watch.Take(EvalEnd{clock, kName, kMetrics});
  EXPECT_THAT(
      [&] { watch.Take(EpochEnd{clock, history}); },
      ::testing::ThrowsMessage<std::invalid_argument>(
          "Test: metric \"loss\" was not recorded; there are: eval_loss"));
  EXPECT_THROW(MetricWatch("Test", ""), std::invalid_argument);
}

}  // namespace
}  // namespace trainyard
