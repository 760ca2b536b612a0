#include "callbacks/printing/epoch_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "callbacks/callback_handler.h"
#include "callbacks/testing/fake_run.h"
#include "tools/testing/memory_output.h"
#include "tracking/run_history.h"

namespace trainyard {
namespace {

class EpochTableTest : public ::testing::Test {
 protected:
  EpochTableTest() {
    handler_.Add(EpochTable(
        {.output = output_.file(), .clock = [this] { return now_; }}));
    handler_.Fire(RunStart{config_, clock_, /*resumed=*/false, FakeBackend()});
  }

  // An epoch of 4 s of training and 1 s of evaluation.
  void Epoch(const Metrics& metrics) {
    handler_.Fire(EpochStart{config_, clock_, 4});
    now_ += 4;
    clock_.CountBatch(40000);
    handler_.Fire(TrainEpochEnd{clock_, history_});
    now_ += 1;
    for (const auto& [name, value] : metrics) history_.Update(name, value);
    handler_.Fire(EpochEnd{clock_, history_});
    clock_.EndEpoch();
    history_.IncrementEpoch();
  }

  std::string Written() { return output_.Written(); }

  const RunConfig config_{.num_epochs = 10};
  RunClock clock_;
  InMemoryRunHistory history_;
  Control control_;
  CallbackHandler handler_{control_};
  double now_ = 1000;
  MemoryOutput output_;
};

TEST_F(EpochTableTest, HeaderExample) {
  CallbackHandler handler(control_);
  EXPECT_GT(handler.Add(EpochTable()).priority(), 0);
}

TEST_F(EpochTableTest, PrintsAHeaderOnceAndARowPerEpoch) {
  Epoch({{"train_loss", 0.52154},
         {"eval_loss", 0.3807},
         {"eval_accuracy", 0.861}});
  Epoch({{"train_loss", 123.4}, {"eval_loss", 1e-7}, {"eval_accuracy", 0.9}});
  EXPECT_EQ(
      Written(),
      "epoch  train_loss  eval_loss  eval_accuracy  samples/s  seconds\n"
      " 1/10      0.5215     0.3807         0.8610      10.0k      5.0\n"
      " 2/10    123.4000  1.000e-07         0.9000      10.0k      5.0\n");
}

TEST_F(EpochTableTest, ColumnsHaveAStableOrder) {
  Epoch({{"accuracy", 1},
         {"eval_accuracy", 1},
         {"eval_loss", 1},
         {"lr", 1},
         {"train_accuracy", 1},
         {"train_loss", 1},
         {"val_f1", 1},
         {"val_loss", 1}});
  const std::string text = Written();
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "epoch  train_loss  train_accuracy  eval_loss  eval_accuracy   "
            "accuracy         lr   val_loss"
            "     val_f1  samples/s  seconds");
}

TEST_F(EpochTableTest, NewMetricGetsAColumnAndMissingValuesADash) {
  Epoch({{"train_loss", 1}});
  Epoch({{"train_loss", 2}, {"eval_loss", 3}});
  Epoch({{"train_loss", 4}});
  EXPECT_EQ(Written(),
            "epoch  train_loss  samples/s  seconds\n"
            " 1/10      1.0000      10.0k      5.0\n"
            "epoch  train_loss  eval_loss  samples/s  seconds\n"
            " 2/10      2.0000     3.0000      10.0k      5.0\n"
            " 3/10      4.0000          -      10.0k      5.0\n");
}

TEST_F(EpochTableTest, ASecondRunStartsAnew) {
  Epoch({{"train_loss", 1}});
  history_.Reset();
  clock_ = RunClock();
  handler_.Fire(RunStart{config_, clock_, /*resumed=*/false, FakeBackend()});
  Written();
  Epoch({{"train_loss", 2}});
  EXPECT_EQ(Written(),
            "epoch  train_loss  samples/s  seconds\n"
            " 1/10      2.0000      10.0k      5.0\n");
}

TEST_F(EpochTableTest, EvaluationsWithinAnEpochAreNotTraining) {
  const std::string eval = "eval";
  handler_.Fire(EpochStart{config_, clock_, 4});
  now_ += 2;
  handler_.Fire(EvalStart{clock_, eval, 1, FakeBackend()});
  now_ += 6;
  handler_.Fire(EvalEnd{clock_, eval, {}});
  now_ += 2;
  clock_.CountBatch(40000);
  handler_.Fire(TrainEpochEnd{clock_, history_});
  handler_.Fire(EpochEnd{clock_, history_});
  EXPECT_EQ(Written(),
            "epoch  samples/s  seconds\n"
            " 1/10      10.0k     10.0\n");
}

TEST_F(EpochTableTest, MetricsAfterTheLastEpochGetARow) {
  Epoch({{"train_loss", 1}});
  Written();
  const std::string nothing;
  history_.Update("train_loss", 2);
  handler_.FireToAll(RunEnd{clock_, history_, RunEnding::kFinished, nothing});
  EXPECT_EQ(Written(), "  end      2.0000          -        -\n");
}

TEST_F(EpochTableTest, RefusesBadOptionsByName) {
  EXPECT_THROW(EpochTable({.output = nullptr}), std::invalid_argument);
  EXPECT_THROW(EpochTable({.clock = nullptr}), std::invalid_argument);
}

}  // namespace
}  // namespace trainyard
