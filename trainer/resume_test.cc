// A run that was stopped anywhere and resumed ends as one that was never
// stopped, to the bit.
#include <ATen/Context.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/make_backend.h"
#include "schedulers/cosine.h"
#include "schedulers/exponential.h"
#include "schedulers/plateau.h"
#include "trainer/accelerator.h"
#include "trainer/checkpoint/folder/step_names.h"
#include "trainer/checkpoint/state_crc32c.h"
#include "trainer/checkpoint/testing/memory_folder.h"
#include "trainer/error_message.h"
#include "trainer/optim/adamw.h"
#include "trainer/testing/clock_at.h"
#include "trainer/testing/line_rig.h"
#include "trainer/testing/line_stream.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Has all that is easily forgotten: random numbers, buffers, several weights.
class NoisyTask final : public TaskOf<Example> {
 public:
  NoisyTask() {
    AddModel("first", first_.ptr());
    AddModel("norm", norm_.ptr());
    AddModel("second", second_.ptr());
    AddOptimizer("body", body);
    AddOptimizer("head", head);
  }
  StepOutput TrainStep(const Example& batch, StepContext&) override {
    const at::Tensor hidden =
        norm_->forward(first_->forward(at::dropout(batch.input, 0.3, true)));
    return {.loss = at::mse_loss(second_->forward(hidden), batch.target),
            .metrics = {{"hidden", hidden.abs().mean()}}};
  }
  StepOutput EvalStep(const Example& batch, StepContext&) override {
    return {.loss = at::mse_loss(
                second_->forward(norm_->forward(first_->forward(batch.input))),
                batch.target)};
  }

 private:
  TestLinear first_{3, 4};
  TestBatchNorm1d norm_{4};
  TestLinear second_{4, 1};

 public:
  AdamW body{*first_, {.lr = 0.05}}, head{*second_, {.lr = 0.05}};
};

// Remembers how many steps it saw.
class StepCounter final : public Callback, public Stateful {
 public:
  explicit StepCounter(int64_t stop_at) : stop_at_(stop_at) {}
  void OnStepEnd(const StepEnd&, Control& control) override {
    if (++steps == stop_at_) control.RequestStop("the test says so");
  }
  void OnMetricsReport(const MetricsReport& e, Control&) override {
    reports.push_back(e.metrics.at("train_loss"));
  }
  void OnCheckpointLoaded(const CheckpointLoaded& e, Control&) override {
    loaded = e.path;
  }
  State SaveState() const override {
    State state;
    state.Set("steps", steps);
    state.Set("reports", reports);
    return state;
  }
  void LoadState(const State& state) override {
    steps = state.Get<int64_t>("steps");
    reports = state.Get<std::vector<double>>("reports");
  }

  int64_t steps = 0;
  std::vector<double> reports;
  std::string loaded;

 private:
  int64_t stop_at_;
};

struct Outcome {
  RunResult result;
  uint32_t crc = 0;
  int64_t steps = 0;
  std::string loaded;
  std::vector<double> losses, eval_losses, hidden, reports;
};

class SlopeTask final : public TaskOf<Example> {
 public:
  explicit SlopeTask(TestCustom model) : model_(std::move(model)) {
    AddModel("model", model_.ptr());
  }
  StepOutput TrainStep(const Example& batch, StepContext&) override {
    return {.loss = Error(batch)};
  }
  StepOutput EvalStep(const Example& batch, StepContext&) override {
    return {.loss = Error(batch)};
  }

 private:
  at::Tensor Error(const Example& batch) const {
    return batch.input.mul(model_["slope"])
        .sum(1, /*keepdim=*/true)
        .sub(batch.target)
        .square()
        .mean();
  }
  TestCustom model_;
};

// On the CPU every batch is tried. An accelerator saves the same state, and the
// stand-in takes its time: 1, 6, 11, … are within windows and between them.
int64_t Stride() { return DefaultDevice().is_cpu() ? 1 : 5; }

class ResumeTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(folder_); }

  // 14 samples in batches of 3 and windows of 2 batches: 5 batches and 3
  // updates per epoch, 25 batches and 15 updates in all.
  TrainOptions Options() {
    return {.data = LinePoints(14),
            .eval_data = LinePoints(5),
            .length = Epochs(5),
            .per_device_batch_size = 3,
            .grad_accum_steps = 2,
            .schedule = Cosine({.warmup = Updates(2)}),
            .schedules = {{.schedule = OnPlateau({.patience = 0}),
                           .optimizer = "head"}},
            .evaluate = Every(Batches(4)),
            .checkpoint = {.directory = folder_, .save = Every(Batches(7))},
            .resume = Resume::kIfPresent,
            .seed = 5};
  }

  Outcome Train(const TrainOptions& options, int64_t stop_at = -1,
                uint64_t seed = 1) {
    at::manual_seed(seed);
    auto task = std::make_unique<NoisyTask>();
    AdamW &body = task->body, &head = task->head;
    const auto backend = MakeBackend(backend_, {.amp = {.dtype = at::kHalf}});
    Trainer trainer(std::move(task), *backend, {.default_callbacks = false});
    StepCounter counter(stop_at);
    trainer.Add(counter);
    Outcome outcome{.result = trainer.Train(options)};
    std::vector<NamedTensor> all = trainer.task().NamedTensors();
    for (const AdamW* optimizer : {&body, &head}) {
      for (NamedTensor& item : optimizer->NamedTensors()) {
        all.push_back({(optimizer == &body ? "body/" : "head/") + item.name,
                       item.tensor});
      }
    }
    outcome.crc = StateCrc32c(all);
    outcome.steps = counter.steps;
    outcome.loaded = counter.loaded;
    outcome.reports = counter.reports;
    outcome.losses = trainer.history().Values("train_loss");
    outcome.hidden = trainer.history().Values("train_hidden");
    outcome.eval_losses = trainer.history().Values("eval_loss");
    return outcome;
  }

  std::string backend_ = "sp";
  std::string folder_ =
      MemoryFolder() + "/" +
      ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

// In half precision the scale of the loss goes on, too.
TEST_F(ResumeTest, EndsEqualInHalfPrecision) {
  backend_ = "sp-amp";
  TrainOptions unsaved = Options();
  unsaved.checkpoint = {};
  unsaved.resume = Resume::kNever;
  const Outcome straight = Train(unsaved);
  for (int64_t stop = 1; stop < 25; stop += Stride()) {
    SetUp();
    Train(Options(), stop);
    const Outcome resumed = Train(Options(), -1, /*seed=*/2);
    EXPECT_EQ(resumed.crc, straight.crc) << "stopped at " << stop;
    EXPECT_EQ(resumed.losses, straight.losses) << "stopped at " << stop;
  }
}

TEST_F(ResumeTest, EndsEqualWhereverItWasStopped) {
  TrainOptions unsaved = Options();
  unsaved.checkpoint = {};
  unsaved.resume = Resume::kNever;
  const Outcome straight = Train(unsaved);
  for (const bool asynchronous : {true, false}) {
    for (int64_t stop = 1; stop < 25; stop += Stride()) {
      SetUp();
      TrainOptions options = Options();
      options.checkpoint.asynchronous = asynchronous;
      const Outcome stopped = Train(options, stop);
      EXPECT_EQ(stopped.result.ending, RunEnding::kStopped);
      // Other weights and random numbers to begin with.
      const Outcome resumed = Train(options, -1, /*seed=*/2);
      EXPECT_EQ(resumed.result.ending, RunEnding::kFinished);
      EXPECT_THAT(resumed.loaded, HasSubstr(folder_ + "/step-"));
      EXPECT_EQ(resumed.crc, straight.crc) << "stopped at " << stop;
      EXPECT_EQ(resumed.steps, straight.steps);
      EXPECT_EQ(PositionOf(resumed.result.clock),
                PositionOf(straight.result.clock));
      EXPECT_EQ(resumed.losses, straight.losses);
      EXPECT_EQ(resumed.hidden, straight.hidden);
      EXPECT_EQ(resumed.eval_losses, straight.eval_losses);
    }
  }
}

// Killed after its last checkpoint: whatever was due beside that is made good.
TEST_F(ResumeTest, GoesOnFromEveryCheckpointWithEveryReport) {
  TrainOptions options = Options();
  options.report = Every(Batches(2));
  options.checkpoint.save = Every(Batches(1));
  options.checkpoint.keep.last = std::nullopt;
  const Outcome straight = Train(options);
  for (int64_t step = 1; step < 15; step += Stride()) {
    for (int64_t later = step + 1; later <= 15; ++later) {
      std::filesystem::remove_all(folder_ + "/" + StepName(later));
    }
    const Outcome resumed = Train(options, -1, /*seed=*/2);
    EXPECT_EQ(resumed.crc, straight.crc) << "from step " << step;
    EXPECT_EQ(resumed.reports, straight.reports) << "from step " << step;
    EXPECT_EQ(resumed.losses, straight.losses);
  }
}

TEST_F(ResumeTest, AFinishedRunHasNothingLeftToDo) {
  const Outcome once = Train(Options());
  const Outcome twice = Train(Options(), -1, 2);
  EXPECT_EQ(twice.crc, once.crc);
  EXPECT_EQ(twice.result.ending, RunEnding::kFinished);
  EXPECT_THAT(twice.result.message,
              HasSubstr("from a finished run; nothing left to train"));
  EXPECT_EQ(twice.eval_losses, once.eval_losses);
}

TEST_F(ResumeTest, AFinishedRunGoesOnIfMoreIsAskedFor) {
  Train(Options());
  TrainOptions longer = Options();
  longer.length = Epochs(6);
  EXPECT_EQ(Train(longer).result.clock.epoch(), 6);
}

// Schedules here do not depend on the length.
TEST_F(ResumeTest, ALongerRunEndsAsIfItHadBeenLongFromTheStart) {
  const auto options = [this](int64_t updates, bool stream) {
    TrainOptions result = Options();
    if (stream) result.source = LineStream(14);
    result.length = Updates(static_cast<double>(updates));
    result.schedule = {};
    if (!stream) {
      result.schedules.push_back({.schedule = Exponential({.gamma = 0.5}),
                                  .optimizer = "body",
                                  .step_on = StepOn::kEpoch});
    }
    return result;
  };
  for (const bool stream : {false, true}) {
    SetUp();
    const Outcome straight = Train(options(11, stream));
    // 3 updates per epoch: within one, and at its end.
    for (int64_t shorter = 1; shorter < 11; shorter += Stride()) {
      SetUp();
      const Outcome first = Train(options(shorter, stream));
      EXPECT_EQ(first.result.clock.updates(), shorter);
      const Outcome resumed = Train(options(11, stream), -1, /*seed=*/2);
      EXPECT_EQ(resumed.result.ending, RunEnding::kFinished);
      EXPECT_EQ(PositionOf(resumed.result.clock),
                PositionOf(straight.result.clock))
          << "from " << shorter;
      EXPECT_EQ(resumed.crc, straight.crc) << "from " << shorter;
      EXPECT_EQ(resumed.steps, straight.steps);
      EXPECT_EQ(resumed.losses, straight.losses);
      EXPECT_EQ(resumed.hidden, straight.hidden);
      EXPECT_EQ(resumed.eval_losses, straight.eval_losses);
    }
  }
}

TEST_F(ResumeTest, AnEpochThatALimitEndedIsNotOpenedAgain) {
  TrainOptions options = Options();
  options.schedule = {};
  options.max_batches_per_epoch = 2;
  options.length = Epochs(1);
  EXPECT_EQ(Train(options).result.clock.batches(), 2);
  options.length = Epochs(2);
  options.max_batches_per_epoch = std::nullopt;
  EXPECT_EQ(Train(options).result.clock.batches(), 2 + 5);
}

TEST_F(ResumeTest, StartsAnewOnlyWhereNothingWouldBeLost) {
  TrainOptions options = Options();
  options.resume = Resume::kRequired;
  const auto message = [&] {
    try {
      Train(options);
    } catch (const std::exception& e) {
      return ErrorMessage(e);
    }
    return std::string("trained");
  };
  EXPECT_THAT(message(), HasSubstr("there is no checkpoint to resume from"));
  options.resume = Resume::kNever;
  EXPECT_EQ(message(), "trained");
  EXPECT_THAT(message(), HasSubstr("has checkpoints of an earlier run"));
}

// Only the model differs: its tensors are named.
TEST_F(ResumeTest, TensorsOfAnotherModelAreNamed) {
  TrainOptions options = Options();
  options.schedules = {};
  LineRig().trainer().Train(options);
  TestCustom model(
      TestModuleParts{.parameters = {{"slope", at::zeros({1, 3})}}});
  AdamW optimizer(*model);
  const auto backend = MakeBackend("sp");
  Trainer trainer(std::make_unique<SlopeTask>(model), optimizer, *backend,
                  {.default_callbacks = false});
  try {
    trainer.Train(options);
    FAIL() << "trained";
  } catch (const c10::ValueError& e) {
    EXPECT_THAT(ErrorMessage(e), HasSubstr("cannot resume from " + folder_));
    EXPECT_THAT(ErrorMessage(e), HasSubstr("missing:\n  \"slope\""));
    EXPECT_THAT(ErrorMessage(e), HasSubstr("\"weight\""));
  }
}

TEST_F(ResumeTest, AnotherModelIsRefusedByName) {
  Train(Options());
  LineRig rig;
  TrainOptions options = Options();
  options.schedules = {};
  try {
    rig.trainer().Train(options);
    FAIL() << "trained";
  } catch (const c10::ValueError& e) {
    EXPECT_THAT(ErrorMessage(e), HasSubstr("cannot resume from " + folder_));
    EXPECT_THAT(ErrorMessage(e), HasSubstr("has no tensors \"optimizer\""));
  }
}

}  // namespace
}  // namespace trainyard
