#include "callbacks/printing/log_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "callbacks/testing/fake_run.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(LogMetricsTest, HeaderExample) {
  FakeRun run({.num_epochs = 1, .eval = [](int64_t) {
                 return Metrics{{"eval_loss", 0.3807},
                                {"eval_accuracy", 0.861}};
               }});
  run.Add(LogMetrics());
  ::testing::internal::CaptureStdout();
  run.Play();
  EXPECT_EQ(::testing::internal::GetCapturedStdout(),
            "Epoch 1: train_loss 0.5000\n"
            "Epoch 1: eval_accuracy 0.8610, eval_loss 0.3807\n");
}

TEST(LogMetricsTest, LogsTheMetricsOfTheEpochOnly) {
  std::vector<std::pair<int64_t, Metrics>> logged;
  // The second epoch is not evaluated.
  FakeRun run({.eval = [](int64_t epoch) {
    return epoch == 1 ? Metrics{{"eval_loss", 0.25}} : Metrics{};
  }});
  run.Add(LogMetrics({.log = [&](int64_t epoch, const Metrics& metrics) {
    logged.emplace_back(epoch, metrics);
  }}));
  run.Play();
  EXPECT_THAT(logged,
              ElementsAre(Pair(1, ElementsAre(Pair("train_loss", 0.5))),
                          Pair(1, ElementsAre(Pair("eval_loss", 0.25))),
                          Pair(2, ElementsAre(Pair("train_loss", 0.5)))));
}

TEST(LogMetricsTest, MetricsRecordedDuringTrainingAreLoggedAtTheEndOfTheEpoch) {
  std::vector<Metrics> logged;
  FakeRun run({.num_epochs = 1, .eval = [](int64_t) { return Metrics{}; }});
  run.Add(On<TrainEpochEnd>([](const TrainEpochEnd& e, Control&) {
    e.history.Update("grad_norm", 2);
  }));
  run.Add(LogMetrics({.log = [&](int64_t, const Metrics& metrics) {
    logged.push_back(metrics);
  }}));
  run.Play();
  EXPECT_THAT(logged, ElementsAre(ElementsAre(Pair("train_loss", 0.5)),
                                  ElementsAre(Pair("grad_norm", 2))));
}

TEST(LogMetricsTest, FinalEvaluationIsLoggedWithTheLastEpoch) {
  std::vector<std::pair<int64_t, Metrics>> logged;
  FakeRun run({.num_epochs = 1, .eval_every_epochs = 2});
  run.Add(LogMetrics({.log = [&](int64_t epoch, const Metrics& metrics) {
    logged.emplace_back(epoch, metrics);
  }}));
  run.Play();
  EXPECT_THAT(logged,
              ElementsAre(Pair(1, ElementsAre(Pair("train_loss", 0.5))),
                          Pair(1, ElementsAre(Pair("eval_loss", 0.25)))));
}

TEST(LogMetricsTest, RefusesAnEmptyFunction) {
  EXPECT_THROW(LogMetrics({.log = nullptr}), std::invalid_argument);
}

}  // namespace
}  // namespace trainyard
