// A run whose steps are replayed as graphs ends as one without them, to the
// bit.
#include <ATen/Context.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/make_backend.h"
#include "backends/step_graph.h"
#include "backends/testing/standin/standin.h"
#include "callbacks/recording/gradient_norm_monitor.h"
#include "callbacks/stopping/terminate_on_nan.h"
#include "callbacks/weights/model_ema.h"
#include "schedulers/cosine.h"
#include "schedulers/schedule.h"
#include "trainer/accelerator.h"
#include "trainer/checkpoint/testing/memory_folder.h"
#include "trainer/losses.h"
#include "trainer/optim/adamw.h"
#include "trainer/optim/lion.h"
#include "trainer/optim/sgd.h"
#include "trainer/supervised.h"
#include "trainer/testing/line_rig.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::IsEmpty;

constexpr int64_t kBatch = 8;
constexpr int64_t kWarmUp = 3;

// Values as floats, which graphs read from the device.
class FloatValues final : public Schedule {
 public:
  explicit FloatValues(std::unique_ptr<Schedule> exact)
      : exact_(std::move(exact)) {}
  double ValueAt(int64_t update, double base) const override {
    return static_cast<float>(exact_->ValueAt(update, base));
  }

 private:
  const std::unique_ptr<Schedule> exact_;
};

ScheduleFactory Rounded(const ScheduleFactory& make) {
  return [make](const RunLength& run) {
    return std::make_unique<FloatValues>(make(run));
  };
}

// Records the losses, and what the device did in the steps after the warm-up.
class Recorder final : public Callback, public Stateful {
 public:
  int priority() const override { return 1000; }
  void OnStepEnd(const StepEnd& e, Control& control) override {
    losses_.push_back(e.output.loss.detach());
    ++steps;
    if (steps == kWarmUp + 2) ResetStandInCounts();
    if (steps == last) {
      counts = StandInCounts();
      waits = StandInSynchronizations();
    }
    if (steps == stop_at) control.RequestStop("the test says so");
    if (step_end) step_end(steps);
  }
  State SaveState() const override {
    State state;
    state.Set("steps", steps);
    return state;
  }
  void LoadState(const State& state) override {
    steps = state.Get<int64_t>("steps");
  }
  std::vector<double> losses() const {
    std::vector<double> values;
    for (const at::Tensor& loss : losses_)
      values.push_back(loss.item<double>());
    return values;
  }

  int64_t steps = 0;
  int64_t last = 0;
  int64_t stop_at = -1;
  std::function<void(int64_t steps)> step_end;
  StandInCount counts;
  std::vector<std::string> waits;

 private:
  std::vector<at::Tensor> losses_;
};

using MakeOptimizer =
    std::function<std::unique_ptr<Optimizer>(const TestModule& model)>;

MakeOptimizer AdamWWith(double weight_decay) {
  return [=](const TestModule& model) {
    return std::make_unique<AdamW>(
        *model, AdamWOptions{.lr = 0.01, .weight_decay = weight_decay});
  };
}

struct Outcome {
  // Of model and optimizer, on the CPU.
  std::vector<NamedTensor> state;
  at::Tensor random;
  std::vector<double> losses;
  StandInCount counts;
  std::vector<std::string> waits;
  RunResult result;
  std::vector<double> history;  // of the metric that was asked for
};

class CapturedTrainingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasStepGraph(DefaultDevice().type())) GTEST_SKIP() << "no graphs";
    std::filesystem::remove_all(folder_);
  }

  TrainOptions Options(bool captured) const {
    TrainOptions options{.data = LinePoints(kBatch * steps_),
                         .length = Epochs(1),
                         .per_device_batch_size = kBatch,
                         .clip = ClipNorm(0.1),
                         .schedule = Rounded(Cosine({.warmup = Updates(5)})),
                         .seed = 5};
    if (!captured) return options;
    options.schedule = Cosine({.warmup = Updates(5)});
    options.capture_after_steps = kWarmUp;
    return options;
  }

  Outcome Train(const TrainOptions& options,
                const MakeOptimizer& make = AdamWWith(0.01)) {
    at::manual_seed(1);
    const TestSequential model{TestLinear(3, 16), TestBatchNorm1d(16),
                               TestReLU(), TestDropout(0.5), TestLinear(16, 1)};
    const std::unique_ptr<Optimizer> optimizer = make(model);
    const auto backend =
        MakeBackend(backend_, {.amp = {.dtype = at::kBFloat16}});
    Trainer trainer(Supervised(model, MeanSquaredError()), *optimizer, *backend,
                    {.default_callbacks = false});
    Recorder recorder;
    recorder.last = steps_;
    recorder.stop_at = stop_at_;
    if (step_end_) {
      recorder.step_end = [&](int64_t steps) { step_end_(steps, model); };
    }
    trainer.Add(recorder);
    if (add_) add_(trainer, model, *optimizer);
    Outcome outcome{.result = trainer.Train(options)};
    for (const auto& tensors :
         {trainer.task().NamedTensors(), optimizer->NamedTensors()}) {
      for (const NamedTensor& item : tensors) {
        outcome.state.push_back({item.name, item.tensor.detach().cpu()});
      }
    }
    outcome.random =
        at::globalContext().defaultGenerator(backend->device()).get_state();
    outcome.losses = recorder.losses();
    outcome.counts = recorder.counts;
    outcome.waits = recorder.waits;
    if (!metric_.empty()) outcome.history = trainer.history().Values(metric_);
    return outcome;
  }

  static void ExpectEqual(const Outcome& actual, const Outcome& expected) {
    ASSERT_EQ(actual.state.size(), expected.state.size());
    for (size_t i = 0; i < actual.state.size(); ++i) {
      EXPECT_TRUE(actual.state[i].tensor.equal(expected.state[i].tensor))
          << actual.state[i].name;
    }
    EXPECT_TRUE(actual.random.equal(expected.random));
    EXPECT_EQ(actual.losses, expected.losses);
    EXPECT_EQ(actual.history, expected.history);
    EXPECT_EQ(actual.result.ending, expected.result.ending);
    EXPECT_EQ(actual.result.message, expected.result.message);
  }
  static void ExpectReplays(const Outcome& outcome, int64_t replays) {
    if (!StandInIsRegistered()) return;
    EXPECT_EQ(outcome.counts.graph_replays, replays);
    EXPECT_THAT(outcome.waits, IsEmpty());
    EXPECT_EQ(outcome.counts.copies_to_host, 0);
  }

  // The steps of the recorder, all of them replayed, with two graphs each.
  int64_t counted() const { return steps_ - kWarmUp - 2; }
  int64_t replays() const { return 2 * counted(); }

  int64_t steps_ = 16;
  std::string backend_ = "sp";
  std::string metric_;
  int64_t stop_at_ = -1;
  std::function<void(int64_t steps, const TestModule& model)> step_end_;
  std::function<void(Trainer&, const TestModule&, Optimizer&)> add_;
  const std::string folder_ =
      MemoryFolder() + "/" +
      ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(CapturedTrainingTest, FiftyStepsOfAdamWWithScheduleClippingAndDropout) {
  steps_ = 50;
  const Outcome eager = Train(Options(false));
  const Outcome captured = Train(Options(true));
  ExpectEqual(captured, eager);
  ExpectReplays(captured, replays());
  ExpectReplays(eager, 0);
  if (!StandInIsRegistered()) return;
  // More than without graphs: two inputs that are copied, a loss that is, and a
  // learning rate that is set.
  EXPECT_EQ(captured.counts.kernels, eager.counts.kernels + 4 * counted());
}

TEST_F(CapturedTrainingTest, FiftyStepsOfSgd) {
  steps_ = 50;
  const auto make = [](const TestModule& model) {
    return std::make_unique<SGD>(*model, SGDOptions{.lr = 0.05,
                                                    .momentum = 0.9,
                                                    .dampening = 0.3,
                                                    .weight_decay = 0.01});
  };
  const Outcome captured = Train(Options(true), make);
  ExpectEqual(captured, Train(Options(false), make));
  ExpectReplays(captured, replays());
}

TEST_F(CapturedTrainingTest, WithoutClippingOrSchedule) {
  TrainOptions options = Options(true);
  options.clip = {};
  options.schedule = {};
  const auto make = [](const TestModule& model) {
    return std::make_unique<AdamW>(*model, AdamWOptions{.lr = 0.125});
  };
  const Outcome captured = Train(options, make);
  options.capture_after_steps.reset();
  ExpectEqual(captured, Train(options, make));
}

TEST_F(CapturedTrainingTest, MixedPrecisionInBFloat16) {
  backend_ = "sp-amp";
  const Outcome captured = Train(Options(true));
  ExpectEqual(captured, Train(Options(false)));
  ExpectReplays(captured, replays());
}

TEST_F(CapturedTrainingTest, ABatchOfAnotherShapeIsTrainedOnAsUsual) {
  // 8 batches per epoch, the last one of 3 samples, and an evaluation between.
  const auto uneven = [this](bool captured) {
    TrainOptions options = Options(captured);
    options.data = LinePoints(7 * kBatch + 3);
    options.eval_data = LinePoints(5);
    options.length = Epochs(2);
    return options;
  };
  metric_ = "eval_loss";
  const Outcome captured = Train(uneven(true));
  ExpectEqual(captured, Train(uneven(false)));
  if (!StandInIsRegistered()) return;
  // Of steps 6 to 16, all but 8 and 16.
  EXPECT_EQ(captured.counts.graph_replays, replays() - 2 * 2);
}

TEST_F(CapturedTrainingTest, ARunThatWasStoppedAndResumedEndsEqual) {
  const Outcome straight = Train(Options(true));
  for (const int64_t stop : {2, 3, 4, 9}) {
    std::filesystem::remove_all(folder_);
    TrainOptions options = Options(true);
    options.checkpoint = {.directory = folder_};
    options.resume = Resume::kIfPresent;
    stop_at_ = stop;
    EXPECT_EQ(Train(options).result.ending, RunEnding::kStopped);
    stop_at_ = -1;
    Outcome resumed = Train(options);
    EXPECT_EQ(resumed.losses.size(), steps_ - stop);
    resumed.losses = straight.losses;
    ExpectEqual(resumed, straight);
  }
}

TEST_F(CapturedTrainingTest, OtherFieldsMayChange) {
  TrainOptions options = Options(true);
  options.schedules = {{.field = "weight_decay", .schedule = Cosine()}};
  TrainOptions eager = options;
  eager.schedule = Options(false).schedule;
  eager.capture_after_steps.reset();
  const Outcome captured = Train(options, AdamWWith(0.5));
  ExpectEqual(captured, Train(eager, AdamWWith(0.5)));
  ExpectReplays(captured, replays());
}

TEST_F(CapturedTrainingTest, AnOptimizerThatCannotBeCapturedRunsAsUsual) {
  const auto make = [](const TestModule& model) {
    return std::make_unique<Lion>(*model, LionOptions{.lr = 0.01});
  };
  TrainOptions eager = Options(false);
  eager.schedule = Options(true).schedule;
  const Outcome captured = Train(Options(true), make);
  ExpectEqual(captured, Train(eager, make));
  ExpectReplays(captured, replays() / 2);
}

TEST_F(CapturedTrainingTest, AParameterThatIsFrozenIsNoticed) {
  step_end_ = [](int64_t steps, const TestModule& model) {
    if (steps == 7) model["0.weight"].set_requires_grad(false);
    if (steps == 12) model["0.weight"].set_requires_grad(true);
  };
  const Outcome captured = Train(Options(true));
  ExpectEqual(captured, Train(Options(false)));
  // Warm-ups after both.
  ExpectReplays(captured, replays() - 2 * 2 * kWarmUp);
}

TEST_F(CapturedTrainingTest, CallbacksSeeGradientsAndWeights) {
  metric_ = "grad_norm_mean";
  add_ = [](Trainer& trainer, const TestModule& model, Optimizer& optimizer) {
    trainer.Add(GradientNormMonitor(optimizer));
    trainer.Add(ModelEma(*model, {.apply_at_end = true}));
  };
  const Outcome captured = Train(Options(true));
  ExpectEqual(captured, Train(Options(false)));
  EXPECT_EQ(captured.history.size(), 1);
}

// Makes a batch one of which the loss is NaN.
class Spoiler final : public Callback {
 public:
  void OnStepStart(const StepStart& e, Control&) override {
    if (e.clock.batches() == 9) {
      e.batch.tensors()[1].fill_(std::numeric_limits<double>::quiet_NaN());
    }
  }
};

TEST_F(CapturedTrainingTest, AnUpdateIsDiscardedWhenTheLossIsNan) {
  metric_ = "train_loss";  // without that batch
  add_ = [](Trainer& trainer, const TestModule&, Optimizer&) {
    trainer.Add(Spoiler());
    trainer.Add(TerminateOnNaN());
  };
  Outcome captured = Train(Options(true)), eager = Train(Options(false));
  EXPECT_EQ(captured.result.ending, RunEnding::kStopped);
  EXPECT_EQ(captured.losses.size(), 10);
  // They are not equal: NaN.
  captured.losses.pop_back();
  eager.losses.pop_back();
  ExpectEqual(captured, eager);
}

}  // namespace
}  // namespace trainyard
