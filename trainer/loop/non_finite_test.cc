// A loss that is NaN or infinite: its update is not applied, and no checkpoint
// has a NaN in it.
#include <ATen/Context.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/mse_loss.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "backends/backend.h"
#include "backends/make_backend.h"
#include "callbacks/stopping/terminate_on_nan.h"
#include "trainer/error_message.h"
#include "trainer/optim/adamw.h"
#include "trainer/task.h"
#include "trainer/testing/line_rig.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// Changes the loss of batch `batch`, counted from 1 over the whole run.
using Change = std::function<at::Tensor(int64_t batch, at::Tensor loss)>;

Change Times(double factor, int64_t first, int64_t last) {
  return [=](int64_t batch, const at::Tensor& loss) {
    return batch >= first && batch <= last ? loss.mul(factor) : loss;
  };
}

class LineTask final : public TaskOf<Example> {
 public:
  explicit LineTask(Change change)
      : line_((at::manual_seed(1), TestLinear(3, 1))),
        change_(std::move(change)) {
    AddModel("line", line_.ptr());
    AddOptimizer("adamw", optimizer_);
  }
  StepOutput TrainStep(const Example& batch, StepContext&) override {
    at::Tensor loss = change_(
        ++batches_, at::mse_loss(line_->forward(batch.input), batch.target));
    loss.register_hook([this](at::Tensor) { ++backward_passes; });
    return {.loss = loss};
  }
  StepOutput EvalStep(const Example& batch, StepContext&) override {
    return {.loss = at::mse_loss(line_->forward(batch.input), batch.target)};
  }
  at::Tensor weight() const { return line_["weight"].detach().clone(); }
  void set_batches(int64_t batches) { batches_ = batches; }

  int64_t backward_passes = 0;

 private:
  TestLinear line_;
  AdamW optimizer_{*line_, {.lr = 0.1}};
  Change change_;
  int64_t batches_ = 0;
};

struct Outcome {
  RunResult result;
  std::string error;
  at::Tensor weight;
  int64_t backward_passes = 0;
  std::vector<double> losses;
};

class NonFiniteTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(folder_); }

  // Two epochs of five batches.
  static TrainOptions Options() {
    return {.data = LinePoints(20),
            .length = Epochs(2),
            .per_device_batch_size = 4,
            .seed = 3};
  }
  TrainOptions SavingOptions() const {
    TrainOptions options = Options();
    options.checkpoint = {.directory = folder_, .save = Every(Batches(2))};
    options.resume = Resume::kIfPresent;
    return options;
  }

  static Outcome Train(const TrainOptions& options, Change change,
                       bool terminate_on_nan = false,
                       const std::string& backend_name = "sp",
                       const BackendOptions& backend_options = {}) {
    const auto backend = MakeBackend(backend_name, backend_options);
    auto task = std::make_unique<LineTask>(std::move(change));
    LineTask& line = *task;
    Trainer trainer(std::move(task), *backend, {.default_callbacks = false});
    if (terminate_on_nan) trainer.Add(TerminateOnNaN());
    trainer.Add(On<CheckpointLoaded>([&](const CheckpointLoaded& e, Control&) {
      line.set_batches(e.clock.epoch() * 5 + e.clock.epoch_batches());
    }));
    Outcome outcome;
    try {
      outcome.result = trainer.Train(options);
    } catch (const std::exception& e) {
      outcome.error = ErrorMessage(e);
    }
    outcome.weight = line.weight();
    outcome.backward_passes = line.backward_passes;
    outcome.losses = trainer.history().Values("train_loss");
    return outcome;
  }

  static Change None() { return Times(1, 0, 0); }

  const std::string folder_ = ::testing::TempDir() + "/non_finite";
};

TEST_F(NonFiniteTest, TheUpdateIsNotAppliedAndTheRunStops) {
  TrainOptions three = Options();
  three.at_most = Updates(3);
  const at::Tensor expected = Train(three, None()).weight;
  for (const double factor : {kNan, kInf, -kInf}) {
    const Outcome outcome = Train(Options(), Times(factor, 4, 100));
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.result.ending, RunEnding::kStopped);
    EXPECT_THAT(outcome.result.message, HasSubstr("in epoch 1, batch 4"));
    EXPECT_EQ(outcome.result.clock.updates(), 3);
    EXPECT_TRUE(at::equal(outcome.weight, expected)) << factor;
  }
}

TEST_F(NonFiniteTest, TerminateOnNanStopsBeforeBackward) {
  const Outcome outcome = Train(Options(), Times(kNan, 4, 4), true);
  EXPECT_EQ(outcome.result.message, "loss is nan in epoch 1, batch 4");
  EXPECT_EQ(outcome.backward_passes, 3);
  EXPECT_TRUE(at::isfinite(outcome.weight).all().item<bool>());
}

TEST_F(NonFiniteTest, ResumeGoesOnFromTheLastGoodCheckpoint) {
  const Outcome whole = Train(Options(), None());
  for (const bool terminate_on_nan : {false, true}) {
    std::filesystem::remove_all(folder_);
    // Batch 6 is one after which a checkpoint is due.
    const Outcome stopped =
        Train(SavingOptions(), Times(kNan, 6, 100), terminate_on_nan);
    EXPECT_EQ(stopped.error, "");
    EXPECT_EQ(stopped.result.ending, RunEnding::kStopped);
    const Outcome resumed = Train(SavingOptions(), None(), terminate_on_nan);
    EXPECT_EQ(resumed.result.ending, RunEnding::kFinished) << resumed.error;
    EXPECT_EQ(resumed.result.clock.updates(), 10);
    EXPECT_TRUE(at::equal(resumed.weight, whole.weight));
    EXPECT_EQ(resumed.losses, whole.losses);
  }
}

// The loss is finite and its gradient is not: only the weights show it.
TEST_F(NonFiniteTest, WeightsThatAreNanAreNotSaved) {
  const Change gradient = [](int64_t batch, const at::Tensor& loss) {
    return batch == 6 ? loss.add(loss.detach().sub(loss).sqrt()) : loss;
  };
  const Outcome whole = Train(Options(), None());
  const Outcome failed = Train(SavingOptions(), gradient);
  EXPECT_THAT(failed.error, AllOf(HasSubstr("a checkpoint could not be saved"),
                                  HasSubstr("contains NaN")));
  const Outcome resumed = Train(SavingOptions(), None());
  EXPECT_EQ(resumed.result.ending, RunEnding::kFinished) << resumed.error;
  EXPECT_TRUE(at::equal(resumed.weight, whole.weight));
}

TEST_F(NonFiniteTest, AFewUpdatesInARowMayBeDropped) {
  TrainOptions options = Options();
  options.max_dropped_updates = 2;
  const Outcome two = Train(options, Times(kNan, 3, 4));
  EXPECT_EQ(two.result.ending, RunEnding::kFinished) << two.result.message;
  EXPECT_EQ(two.result.clock.updates(), 8);
  EXPECT_EQ(two.backward_passes, 8);
  for (const double loss : two.losses) EXPECT_TRUE(std::isfinite(loss));

  const Outcome three = Train(options, Times(kNan, 3, 5));
  EXPECT_EQ(three.result.ending, RunEnding::kStopped);
  EXPECT_EQ(three.result.message,
            "loss is nan in epoch 1, batch 5; its update was not applied");

  // A good one between them: no three in a row.
  const Outcome apart = Train(options, [](int64_t batch, at::Tensor loss) {
    return batch % 3 == 0 ? loss : loss.mul(kNan);
  });
  EXPECT_EQ(apart.result.ending, RunEnding::kFinished) << apart.result.message;
  EXPECT_EQ(apart.result.clock.updates(), 3);
}

TEST_F(NonFiniteTest, ABatchDropsItsWholeWindow) {
  TrainOptions options = Options();
  options.grad_accum_steps = 2;
  options.max_dropped_updates = 1;
  // Windows of an epoch: batches 1 and 2, 3 and 4, 5.
  const Outcome first = Train(options, Times(kNan, 3, 3));
  const Outcome second = Train(options, Times(kNan, 4, 4));
  const Outcome both = Train(options, Times(kNan, 3, 4));
  EXPECT_EQ(first.result.clock.updates(), 5);
  EXPECT_TRUE(at::equal(first.weight, both.weight));
  EXPECT_TRUE(at::equal(second.weight, both.weight));
}

TEST_F(NonFiniteTest, ARunSavedWithinABadWindowDropsItToo) {
  TrainOptions options = SavingOptions();
  options.grad_accum_steps = 2;
  options.max_dropped_updates = 1;
  options.checkpoint.save = Every(Batches(3));
  options.length = Epochs(1);
  TrainOptions unsaved = options;
  unsaved.checkpoint = {};
  const Outcome whole = Train(unsaved, Times(kNan, 3, 3));
  options.checkpoint.asynchronous = false;
  // Ends after the checkpoint within the window.
  const Change killed = [](int64_t batch, const at::Tensor& loss) {
    if (batch == 4) throw std::runtime_error("killed");
    return batch == 3 ? loss.mul(kNan) : loss;
  };
  EXPECT_EQ(Train(options, killed).error, "killed");
  const Outcome resumed = Train(options, None());
  EXPECT_EQ(resumed.result.ending, RunEnding::kFinished) << resumed.error;
  EXPECT_EQ(resumed.result.clock.updates(), 2);
  EXPECT_TRUE(at::equal(resumed.weight, whole.weight));
}

// Gradients that overflow are the scaler's business, which skips them and goes
// on; a loss that is not finite is not.
TEST_F(NonFiniteTest, AScalerSkipsGradientsAndTheTrainerLosses) {
  const BackendOptions half = {
      .amp = {.dtype = at::kHalf, .scaler = {.init_scale = 16}}};
  const Change overflows = [](int64_t batch, const at::Tensor& loss) {
    return batch <= 3 ? loss.add(loss.sub(loss.detach()).mul(1e37)) : loss;
  };
  const Outcome scaled = Train(Options(), overflows, false, "sp-amp", half);
  EXPECT_EQ(scaled.result.ending, RunEnding::kFinished)
      << scaled.result.message;
  EXPECT_EQ(scaled.result.clock.updates(), 7);
  const Outcome lost =
      Train(Options(), Times(kNan, 4, 4), false, "sp-amp", half);
  EXPECT_EQ(lost.result.ending, RunEnding::kStopped);
  EXPECT_EQ(lost.result.clock.updates(), 3);
}

}  // namespace
}  // namespace trainyard
