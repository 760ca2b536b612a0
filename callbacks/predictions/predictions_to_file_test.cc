#include "callbacks/predictions/predictions_to_file.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "callbacks/callback_handler.h"
#include "callbacks/testing/callback_conformance.h"
#include "callbacks/testing/fake_run.h"
#include "trainer/data/batch.h"
#include "trainer/task.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

std::string Contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

const std::string kSet = "evaluation";

// An evaluation of two batches with these outputs.
class PredictionsToFileTest : public ::testing::Test {
 protected:
  std::string Written(PredictionsToFileOptions options,
                      const std::vector<at::Tensor>& outputs) {
    options.path = path_;
    PredictionsToFile predictions(options);
    Control control;
    const RunClock clock;
    predictions.OnEvalStart({clock, kSet, 2, FakeBackend()}, control);
    for (const at::Tensor& output : outputs) {
      const AnyBatch batch(Example{output, output});
      predictions.OnEvalStepEnd({clock, batch, {.outputs = output}, 0},
                                control);
    }
    predictions.OnEvalEnd({clock, kSet, {}}, control);
    return Contents(path_);
  }
  std::string path_ = ::testing::TempDir() + "/predictions.csv";
};

TEST_F(PredictionsToFileTest, WritesALinePerRecord) {
  EXPECT_EQ(Written({}, {at::tensor({0.1F, -2.0F}), at::tensor({1e-9F})}),
            "index,prediction\n0,0.1\n1,-2\n2,1e-09\n");
}

TEST_F(PredictionsToFileTest, WritesClassesAndColumns) {
  const at::Tensor scores =
      at::tensor({0.5F, 0.25F, 0.125F, 1.0F}).view({2, 2});
  EXPECT_EQ(Written({.prediction = MostLikelyClass}, {scores}),
            "index,prediction\n0,0\n1,1\n");
  EXPECT_EQ(Written({}, {scores}),
            "index,prediction_0,prediction_1\n0,0.5,0.25\n1,0.125,1\n");
  EXPECT_EQ(Written({.columns = {"cat", "dog"}}, {scores}),
            "index,cat,dog\n0,0.5,0.25\n1,0.125,1\n");
}

TEST_F(PredictionsToFileTest, NumbersReadBackEqual) {
  EXPECT_EQ(Written({}, {at::tensor({1.0 / 3}, at::kDouble)}),
            "index,prediction\n0,0.3333333333333333\n");
  EXPECT_EQ(Written({}, {at::tensor({int64_t{1} << 40})}),
            "index,prediction\n0,1099511627776\n");
}

TEST_F(PredictionsToFileTest, InvalidOutputsAreErrors) {
  const at::Tensor scores = at::arange(4).view({2, 2});
  EXPECT_THAT([&] { Written({.columns = {"cat"}}, {scores}); },
              ::testing::ThrowsMessage<std::invalid_argument>(HasSubstr(
                  "columns has 1 names, and predictions have 2 columns")));
  EXPECT_THAT(
      [&] {
        Written({.prediction = [](const at::Tensor& x) { return x.sum(); }},
                {scores});
      },
      ::testing::ThrowsMessage<std::invalid_argument>(
          HasSubstr("a batch of 2 records has 0 predictions")));
  EXPECT_THAT([&] { Written({}, {scores, at::arange(3).view({1, 3})}); },
              ::testing::ThrowsMessage<c10::ValueError>(HasSubstr(
                  "an output has rows of shape [3] after steps with [2]")));
  EXPECT_THROW(PredictionsToFile({}), std::invalid_argument);
  path_ = ::testing::TempDir() + "/missing/predictions.csv";
  EXPECT_THAT([&] { Written({}, {scores}); },
              ::testing::ThrowsMessage<std::runtime_error>(HasSubstr(path_)));
}

TEST_F(PredictionsToFileTest, WritesEvaluationsOfItsSetOnly) {
  std::remove(path_.c_str());
  FakeRun run;  // whose steps have no outputs
  run.Add(PredictionsToFile({.path = path_, .set = "other"}));
  EXPECT_EQ(run.Play(), RunEnding::kFinished) << run.message();
  run.PlayEvaluation();
  EXPECT_FALSE(std::ifstream(path_).is_open());
  run.Add(PredictionsToFile({.path = path_, .set = "eval"}),
          {.duplicates = Duplicates::kAllow});
  EXPECT_EQ(run.Play(), RunEnding::kError);
  EXPECT_THAT(run.message(), HasSubstr("EvalStep gives no outputs"));
}

// Steps of the suite's runs have no outputs, so they are of another set.
INSTANTIATE_TEST_SUITE_P(
    PredictionsToFile, CallbackConformanceTest,
    ::testing::Values(CallbackCase{
        "PredictionsToFile",
        [](SecondsClock) {
          return std::make_unique<PredictionsToFile>(PredictionsToFileOptions{
              .path = ::testing::TempDir() + "/conformance.csv",
              .set = "other"});
        }}),
    CallbackCaseName);

}  // namespace
}  // namespace trainyard
