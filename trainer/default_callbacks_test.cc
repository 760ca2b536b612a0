#include "trainer/default_callbacks.h"

#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "backends/single_process.h"
#include "callbacks/printing/epoch_table.h"
#include "callbacks/printing/progress_bar.h"
#include "callbacks/stopping/terminate_on_nan.h"
#include "trainer/accelerator.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/losses.h"
#include "trainer/optim/adamw.h"
#include "trainer/supervised.h"
#include "trainer/testing/line_rig.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsNull;
using ::testing::NotNull;

// A trainer as a user makes it, and what a run of it prints.
class DefaultCallbacksTest : public ::testing::Test {
 protected:
  explicit DefaultCallbacksTest(TrainerOptions options = {})
      : trainer_(Supervised(model_, MeanSquaredError()), optimizer_, *backend_,
                 options) {}

  RunResult Train(TrainOptions options = {}) {
    if (options.data == nullptr) options.data = LinePoints(8);
    if (options.eval_data == nullptr) options.eval_data = LinePoints(4);
    options.length = Epochs(2);
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const RunResult result = trainer_.Train(options);
    table_ = ::testing::internal::GetCapturedStdout();
    bar_ = ::testing::internal::GetCapturedStderr();
    return result;
  }

  static int Count(const std::string& text, const std::string& part) {
    int count = 0;
    for (size_t at = text.find(part); at != std::string::npos;
         at = text.find(part, at + 1)) {
      ++count;
    }
    return count;
  }

  TestLinear model_{3, 1};
  AdamW optimizer_{*model_};
  std::unique_ptr<Backend> backend_ = MakeSingleProcessBackend(DefaultDevice());
  Trainer trainer_;
  std::string table_, bar_;
};

class WithoutDefaultsTest : public DefaultCallbacksTest {
 protected:
  WithoutDefaultsTest() : DefaultCallbacksTest({.default_callbacks = false}) {}
};

TEST_F(DefaultCallbacksTest, HeaderExample) {
  Control control;
  CallbackHandler handler(control);
  std::unique_ptr<Backend>& backend = backend_;
  {
    DefaultCallbacks defaults(handler, {.backend = *backend});
    EXPECT_THAT(handler.Find<ProgressBar>(), NotNull());
    EXPECT_THAT(handler.Find<EpochTable>(), NotNull());
    EXPECT_THAT(handler.Find<TerminateOnNaN>(), NotNull());
  }
  EXPECT_THAT(handler.Find<ProgressBar>(), IsNull());
  EXPECT_THAT(handler.Find<EpochTable>(), IsNull());
  EXPECT_THAT(handler.Find<TerminateOnNaN>(), IsNull());
  EXPECT_FALSE(handler.Hears<StepEnd>());
}

TEST_F(DefaultCallbacksTest, RunShowsABarAndATable) {
  Train();
  EXPECT_EQ(Count(table_, "train_loss"), 1) << table_;
  EXPECT_THAT(table_, HasSubstr("2/2"));
  EXPECT_EQ(Count(bar_, "Epoch 2/2: 1/1 batches (100%)"), 1) << bar_;
}

TEST_F(DefaultCallbacksTest, SecondRunShowsThemOnceToo) {
  Train();
  Train();
  EXPECT_EQ(Count(table_, "train_loss"), 1) << table_;
}

TEST_F(DefaultCallbacksTest, CallbacksOfTheUserTakeTheirPlace) {
  std::FILE* null = std::fopen("/dev/null", "w");
  trainer_.Add(EpochTable({.output = null}));
  trainer_.Add(ProgressBar({.output = null}));
  Train();
  EXPECT_THAT(table_, IsEmpty());
  EXPECT_THAT(bar_, IsEmpty());
  std::fclose(null);
}

// A user may add one after a run that had the default one.
TEST_F(DefaultCallbacksTest, CallbacksMayBeAddedLater) {
  Train();
  trainer_.Add(EpochTable());
  Train();
  EXPECT_EQ(Count(table_, "train_loss"), 1) << table_;
}

DatasetPtr NanPoints() {
  return MakeTensorDataset(
      Example{at::zeros({4, 3}),
              at::full({4, 1}, std::numeric_limits<float>::quiet_NaN())});
}

TEST_F(DefaultCallbacksTest, NanInAnEvaluationStopsTheRun) {
  const RunResult result = Train({.eval_data = NanPoints()});
  EXPECT_EQ(result.ending, RunEnding::kStopped);
  EXPECT_THAT(result.message, HasSubstr("loss is nan in evaluation \"eval\""));
}

TEST_F(DefaultCallbacksTest, RunThatContinuesAfterNanIsNotStopped) {
  const RunResult result =
      Train({.data = NanPoints(), .max_dropped_updates = 10});
  EXPECT_EQ(result.ending, RunEnding::kFinished) << result.message;
}

TEST_F(WithoutDefaultsTest, RunPrintsNothing) {
  const RunResult result = Train({.eval_data = NanPoints()});
  EXPECT_EQ(result.ending, RunEnding::kFinished);
  EXPECT_THAT(table_, IsEmpty());
  EXPECT_THAT(bar_, IsEmpty());
}

}  // namespace
}  // namespace trainyard
