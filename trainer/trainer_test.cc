#include "trainer/trainer.h"

#include <ATen/Context.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/randn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>

#include <csignal>

#include "backends/make_backend.h"
#include "schedulers/cosine.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/optim/adamw.h"
#include "trainer/supervised.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

at::Tensor MeanSquares(const at::Tensor& outputs, const at::Tensor& target) {
  return at::mse_loss(outputs, target);
}

// A line through 3-dimensional points: what a Linear(3, 1) learns.
DatasetPtr Points(int64_t size) {
  at::manual_seed(7);
  const at::Tensor x = at::randn({size, 3});
  return MakeTensorDataset(Example{x, x.sum(1, /*keepdim=*/true).mul(2)});
}

// A trainer over a fresh Linear(3, 1), the same at every construction.
class Rig {
 public:
  explicit Rig(double lr = 0.1)
      : optimizer_(
            (at::manual_seed(1), model_ = torch::nn::Linear(3, 1), *model_),
            {.lr = lr, .weight_decay = 0}) {}
  Trainer& trainer() { return trainer_; }
  Optimizer& optimizer() { return optimizer_; }
  at::Tensor weight() const { return model_->weight.detach().clone(); }

 private:
  torch::nn::Linear model_{nullptr};
  AdamW optimizer_;
  std::unique_ptr<Backend> backend_ = MakeBackend("sp");
  Trainer trainer_{Supervised(model_, MeanSquares), optimizer_, *backend_};
};

// Writes down every event by its first letters.
class Recorder final : public Callback {
 public:
  void OnRunStart(const RunStart&, Control&) override {
    log.push_back("RunStart");
  }
  void OnEpochStart(const EpochStart&, Control&) override {
    log.push_back("EpochStart");
  }
  void OnStepStart(const StepStart&, Control&) override {
    log.push_back("StepStart");
  }
  void OnForwardEnd(const ForwardEnd&, Control&) override {
    log.push_back("ForwardEnd");
  }
  void OnLossEnd(const LossEnd&, Control&) override {
    log.push_back("LossEnd");
  }
  void OnBackwardEnd(const BackwardEnd&, Control&) override {
    log.push_back("BackwardEnd");
  }
  void OnGradientsReady(const GradientsReady&, Control&) override {
    log.push_back("GradientsReady");
  }
  void OnUpdateEnd(const UpdateEnd&, Control&) override {
    log.push_back("UpdateEnd");
  }
  void OnStepEnd(const StepEnd& e, Control& control) override {
    log.push_back("StepEnd");
    if (e.state.samples_seen >= stop_at) control.RequestStop("enough samples");
    if (e.state.samples_seen >= cancel_at) raise(SIGINT);
    if (e.state.samples_seen >= throw_at)
      throw std::runtime_error("out of luck");
  }
  void OnTrainEpochEnd(const TrainEpochEnd&, Control&) override {
    log.push_back("TrainEpochEnd");
  }
  void OnEvalStart(const EvalStart&, Control&) override {
    log.push_back("EvalStart");
  }
  void OnEvalStepStart(const EvalStepStart&, Control&) override {
    log.push_back("EvalStepStart");
  }
  void OnEvalStepEnd(const EvalStepEnd&, Control&) override {
    log.push_back("EvalStepEnd");
  }
  void OnEvalEnd(const EvalEnd&, Control&) override {
    log.push_back("EvalEnd");
  }
  void OnEpochEnd(const EpochEnd&, Control&) override {
    log.push_back("EpochEnd");
  }
  void OnInitEnd(const InitEnd&, Control&) override {
    log.push_back("InitEnd");
  }
  void OnCancel(const Cancel& e, Control&) override {
    log.push_back("Cancel: " + e.reason);
  }
  void OnStop(const Stop& e, Control&) override {
    log.push_back("Stop: " + e.reason);
  }
  void OnRunEnd(const RunEnd& e, Control&) override {
    log.push_back("RunEnd: " + e.message);
  }

  std::vector<std::string> log;
  int64_t stop_at = 1 << 20;
  int64_t throw_at = 1 << 20;
  int64_t cancel_at = 1 << 20;
};

TEST(TrainerTest, EventsOfARunWithAccumulationAndEvaluation) {
  Rig rig;
  Recorder& recorder = rig.trainer().Add(Recorder());
  rig.trainer().Train({.data = Points(10),
                       .eval_data = Points(4),
                       .num_epochs = 1,
                       .per_device_batch_size = 4,
                       .grad_accum_steps = 2});
  EXPECT_THAT(recorder.log,
              ElementsAre("InitEnd", "RunStart", "EpochStart",  //
                          "StepStart", "ForwardEnd", "LossEnd", "BackwardEnd",
                          "StepEnd",  //
                          "StepStart", "ForwardEnd", "LossEnd", "BackwardEnd",
                          "GradientsReady", "UpdateEnd", "StepEnd",  //
                          "StepStart", "ForwardEnd", "LossEnd", "BackwardEnd",
                          "GradientsReady", "UpdateEnd", "StepEnd",  //
                          "TrainEpochEnd", "EvalStart", "EvalStepStart",
                          "EvalStepEnd", "EvalEnd", "EpochEnd", "RunEnd: "));
}

TEST(TrainerTest, EventsOfAStoppedRun) {
  Rig rig;
  Recorder& recorder = rig.trainer().Add(Recorder());
  recorder.stop_at = 4;
  const RunResult result = rig.trainer().Train({.data = Points(10),
                                                .eval_data = Points(4),
                                                .num_epochs = 3,
                                                .per_device_batch_size = 4});
  EXPECT_THAT(recorder.log,
              ElementsAre("InitEnd", "RunStart", "EpochStart", "StepStart",
                          "ForwardEnd", "LossEnd", "BackwardEnd",
                          "GradientsReady", "UpdateEnd", "StepEnd",
                          "Stop: enough samples", "RunEnd: enough samples"));
  EXPECT_EQ(result.ending, RunEnding::kStopped);
  EXPECT_EQ(result.message, "enough samples");
}

TEST(TrainerTest, EventsOfACancelledRun) {
  Rig rig;
  Recorder& recorder = rig.trainer().Add(Recorder());
  recorder.cancel_at = 4;
  const RunResult result = rig.trainer().Train({.data = Points(10),
                                                .eval_data = Points(4),
                                                .num_epochs = 3,
                                                .per_device_batch_size = 4});
  EXPECT_THAT(
      recorder.log,
      ElementsAre("InitEnd", "RunStart", "EpochStart", "StepStart",
                  "ForwardEnd", "LossEnd", "BackwardEnd", "GradientsReady",
                  "UpdateEnd", "StepEnd", "Cancel: SIGINT", "RunEnd: SIGINT"));
  EXPECT_EQ(result.ending, RunEnding::kCancelled);
  EXPECT_EQ(result.message, "SIGINT");
}

TEST(TrainerTest, EventsOfAFailedRun) {
  Rig rig;
  Recorder& recorder = rig.trainer().Add(Recorder());
  recorder.throw_at = 4;
  EXPECT_THROW(
      rig.trainer().Train(
          {.data = Points(10), .num_epochs = 3, .per_device_batch_size = 4}),
      CallbackError);
  EXPECT_EQ(recorder.log.back(),
            "RunEnd: Recorder threw in OnStepEnd: out of luck");
}

TEST(TrainerTest, LearnsALine) {
  Rig rig;
  const RunResult result = rig.trainer().Train({.data = Points(64),
                                                .eval_data = Points(16),
                                                .num_epochs = 100,
                                                .per_device_batch_size = 16,
                                                .schedule = Cosine()});
  EXPECT_EQ(result.ending, RunEnding::kFinished);
  EXPECT_LT(rig.trainer().history().Latest("eval_loss"), 1e-4);
  EXPECT_EQ(rig.trainer().history().Values("train_loss").size(), 100);
  EXPECT_LT(rig.trainer().Evaluate(Points(8)).at("evaluation_loss"), 1e-4);
}

TEST(TrainerTest, CountsBatchesUpdatesAndSamples) {
  Rig rig;
  const RunResult result = rig.trainer().Train({.data = Points(10),
                                                .num_epochs = 3,
                                                .per_device_batch_size = 4,
                                                .grad_accum_steps = 2});
  EXPECT_EQ(result.state, (StepState{.optimizer_step = 6,
                                     .samples_seen = 30,
                                     .epoch = 3,
                                     .grad_accum_steps = 2}));
}

TEST(TrainerTest, MaxUpdatesIsReachedExactlyInMidEpoch) {
  Rig rig;
  std::vector<int64_t> announced;
  rig.trainer().Add(On<EpochStart>([&](const EpochStart& e, Control&) {
    announced.push_back(e.num_batches);
  }));
  const RunResult result = rig.trainer().Train({.data = Points(10),
                                                .eval_data = Points(4),
                                                .max_updates = 4,
                                                .per_device_batch_size = 4});
  EXPECT_EQ(result.ending, RunEnding::kFinished);
  EXPECT_EQ(result.state.optimizer_step, 4);
  EXPECT_EQ(result.state.samples_seen, 14);  // an epoch of 10, and one batch
  EXPECT_THAT(announced, ElementsAre(3, 1));
  EXPECT_EQ(rig.trainer().history().Values("eval_loss").size(), 2);
}

// The evaluations of a run, as "<set>@<samples seen>".
std::vector<std::string> Evaluations(const TrainOptions& options) {
  Rig rig;
  std::vector<std::string> log;
  rig.trainer().Add(On<EvalEnd>([&](const EvalEnd& e, Control&) {
    log.push_back(e.name + "@" + std::to_string(e.state.samples_seen));
  }));
  rig.trainer().Train(options);
  return log;
}

TEST(TrainerTest, EvaluatesSeveralSetsInOrder) {
  EXPECT_THAT(
      Evaluations({.data = Points(8),
                   .eval_data = Points(4),
                   .eval_sets = {{"rare", Points(3)}, {"all", Points(5)}},
                   .num_epochs = 1,
                   .per_device_batch_size = 4}),
      ElementsAre("eval@8", "rare@8", "all@8"));
}

TEST(TrainerTest, EvaluatesWhenDueAndOnceAtTheEnd) {
  const auto evaluations = [](const Period& evaluate) {
    return Evaluations({.data = Points(10),
                        .eval_data = Points(4),
                        .evaluate = evaluate,
                        .num_epochs = 2,
                        .per_device_batch_size = 4});  // batches 4, 4, 2
  };
  EXPECT_THAT(evaluations(Every(Epochs(1))), ElementsAre("eval@10", "eval@20"));
  EXPECT_THAT(evaluations(Every(Batches(2))),
              ElementsAre("eval@8", "eval@14", "eval@20"));
  EXPECT_THAT(evaluations(Every(Updates(4))),
              ElementsAre("eval@14", "eval@20"));
  EXPECT_THAT(evaluations(At(Samples({3, 10}))),
              ElementsAre("eval@4", "eval@10", "eval@20"));
  EXPECT_THAT(evaluations(Every(Epochs(2))), ElementsAre("eval@20"));
  EXPECT_THAT(evaluations(Period()), ElementsAre());
}

TEST(TrainerTest, AnEvaluationInMidEpochLeavesTrainingAsItWas) {
  const auto train = [](const Period& evaluate) {
    Rig rig;
    rig.trainer().Train({.data = Points(10),
                         .eval_data = Points(4),
                         .evaluate = evaluate,
                         .num_epochs = 2,
                         .per_device_batch_size = 4});
    return rig.weight();
  };
  EXPECT_TRUE(at::equal(train(Every(Batches(1))), train(Period())));
}

TEST(TrainerTest, EpochsAndEvaluationsCanBeShortened) {
  Rig rig;
  int eval_batches = 0;
  rig.trainer().Add(
      On<EvalStepEnd>([&](const EvalStepEnd&, Control&) { ++eval_batches; }));
  const RunResult result = rig.trainer().Train({.data = Points(10),
                                                .eval_data = Points(9),
                                                .num_epochs = 3,
                                                .max_batches_per_epoch = 2,
                                                .max_eval_batches = 1,
                                                .per_device_batch_size = 2});
  EXPECT_EQ(result.state.samples_seen, 12);
  EXPECT_EQ(eval_batches, 3);
}

// The same 12 samples as one batch, as an accumulation window of equal batches,
// and of unequal ones (5 + 5 + 2): the update must be the same.
TEST(TrainerTest, AWindowsGradientDoesNotDependOnItsSplit) {
  const auto train = [](int64_t batch_size, int64_t accumulate) {
    Rig rig;
    rig.trainer().Train({.data = Points(12),
                         .num_epochs = 5,
                         .per_device_batch_size = batch_size,
                         .grad_accum_steps = accumulate,
                         .clip = ClipNorm(0.5)});
    return rig.weight();
  };
  const at::Tensor whole = train(12, 1);
  EXPECT_TRUE(at::allclose(train(4, 3), whole, 1e-6, 1e-7));
  EXPECT_TRUE(at::allclose(train(5, 3), whole, 1e-6, 1e-7));
  EXPECT_TRUE(at::allclose(train(1, 12), whole, 1e-6, 1e-7));
  EXPECT_FALSE(at::allclose(train(6, 1), whole, 1e-6,
                            1e-7));  // two updates per epoch are not one
}

// A window of 5 + 2 samples, which its first batch made look like one of 10.
TEST(TrainerTest, CallbacksSeeTheDivisorAndRecordWhatTheyMeasure) {
  Rig rig;
  std::vector<double> divisors;
  rig.trainer().Add(On<GradientsReady>([&](const GradientsReady& e, Control&) {
    divisors.push_back(e.divisor);
  }));
  rig.trainer().Add(On<EpochEnd>([&](const EpochEnd& e, Control&) {
    e.history.Update("divisor", divisors.front());
  }));
  rig.trainer().Train({.data = Points(7),
                       .num_epochs = 1,
                       .per_device_batch_size = 5,
                       .grad_accum_steps = 2});
  EXPECT_THAT(divisors, ElementsAre(0.7));
  EXPECT_EQ(rig.trainer().history().Latest("divisor"), 0.7);
}

TEST(TrainerTest, SameSeedSameWeights) {
  const auto train = [](uint64_t seed) {
    Rig rig;
    rig.trainer().Train({.data = Points(10),
                         .num_epochs = 2,
                         .per_device_batch_size = 4,
                         .seed = seed});
    return rig.weight();
  };
  EXPECT_TRUE(at::equal(train(1), train(1)));
  EXPECT_FALSE(at::equal(train(1), train(2)));
}

TEST(TrainerTest, ScheduleSetsTheRateOfEachUpdateAndIsTakenBack) {
  Rig rig(/*lr=*/0.5);
  std::vector<double> rates;
  rig.trainer().Add(On<GradientsReady>([&](const GradientsReady&, Control&) {
    rates.push_back(rig.optimizer().Field(0, "lr"));
  }));
  rig.trainer().Train({.data = Points(8),
                       .num_epochs = 2,
                       .per_device_batch_size = 4,
                       .schedule = Cosine({.warmup = Updates(2)})});
  EXPECT_THAT(rates, ElementsAre(0, 0.25, 0.5, 0.25));
  EXPECT_EQ(rig.optimizer().Field(0, "lr"), 0.5);
}

TEST(TrainerTest, RefusesBadOptionsByName) {
  Rig rig;
  const auto message = [&](const TrainOptions& options) -> std::string {
    try {
      rig.trainer().Train(options);
    } catch (const c10::ValueError& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_THAT(message({}), HasSubstr("there is no data"));
  EXPECT_THAT(message({.data = Points(4),
                       .eval_sets = {{"a", Points(4)}, {"a", Points(4)}},
                       .num_epochs = 1}),
              HasSubstr("an evaluation set is named \"a\""));
  EXPECT_THAT(message({.data = Points(4)}),
              HasSubstr("set num_epochs or max_updates"));
  EXPECT_THAT(message({.data = Points(4), .num_epochs = -1}),
              HasSubstr("num_epochs is -1"));
  EXPECT_THAT(message({.data = Points(4), .max_updates = -1}),
              HasSubstr("max_updates is -1"));
  EXPECT_THAT(
      message({.data = Points(4), .num_epochs = 1, .per_device_batch_size = 0}),
      HasSubstr("per_device_batch_size is 0"));
  EXPECT_THAT(
      message({.data = Points(4), .num_epochs = 1, .grad_accum_steps = 0}),
      HasSubstr("grad_accum_steps is 0"));
  EXPECT_THAT(message({.data = Points(4),
                       .num_epochs = 1,
                       .eval_per_device_batch_size = -1}),
              HasSubstr("eval_per_device_batch_size is -1"));
}

}  // namespace
}  // namespace trainyard
