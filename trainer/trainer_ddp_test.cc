// The trainer over several processes: the same run as on one, sample by sample.
#include <ATen/Context.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/mse_loss.h>
#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <typeinfo>
#include <vector>

#include "backends/gather_text.h"
#include "backends/make_backend.h"
#include "backends/single_process.h"
#include "tools/launch/testing/test_rank.h"
#include "trainer/checkpoint/testing/memory_folder.h"
#include "trainer/optim/adamw.h"
#include "trainer/testing/clock_at.h"
#include "trainer/testing/line_rig.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

// One for all tests: its process group is the process's own.
Backend& Ddp() {
  static const std::unique_ptr<Backend> backend =
      MakeBackend("ddp", {.device = at::Device(TestDevice())});
  return *backend;
}

// More of the same: with --test_env=TRAINYARD_LONG_TESTS=1.
bool LongForm() { return std::getenv("TRAINYARD_LONG_TESTS") != nullptr; }

struct Outcome {
  RunResult result;
  at::Tensor weight;
  std::vector<double> train_losses, eval_losses;
};

// 27 samples in global batches of 8 and windows of two batches: the last batch
// is of 3, which is not one for each of four.
TrainOptions Options() {
  return {.data = LinePoints(27),
          .eval_data = LinePoints(13),
          .length = Epochs(6),
          .per_device_batch_size = 8,
          .grad_accum_steps = 2,
          .clip = ClipNorm(1),
          .seed = 3};
}

Outcome Train(TrainOptions options, Backend* ddp, int64_t stop_at = -1) {
  LineRig rig(/*lr=*/0.1, ddp);
  if (ddp != nullptr) options.per_device_batch_size /= ddp->num_processes();
  int64_t steps = 0;
  rig.trainer().Add(On<StepEnd>([&](const StepEnd&, Control& control) {
    if (++steps == stop_at) control.RequestStop("the test says so");
  }));
  Outcome outcome{.result = rig.trainer().Train(options)};
  outcome.weight = rig.weight();
  outcome.train_losses = rig.trainer().history().Values("train_loss");
  outcome.eval_losses = rig.trainer().history().Values("eval_loss");
  return outcome;
}

void ExpectNear(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5 * b[i]);
}

TEST(TrainerDdpTest, IsTheRunOfOneProcess) {
  const Outcome one = Train(Options(), nullptr);
  const Outcome all = Train(Options(), &Ddp());
  EXPECT_EQ(all.result.clock.samples(), one.result.clock.samples());
  EXPECT_EQ(all.result.clock.updates(), one.result.clock.updates());
  EXPECT_TRUE(at::allclose(all.weight, one.weight, 1e-6, 1e-7));
  ExpectNear(all.train_losses, one.train_losses);
  ExpectNear(all.eval_losses, one.eval_losses);
}

TEST(TrainerDdpTest, EveryProcessEndsEqual) {
  const at::Tensor weight = Train(Options(), &Ddp()).weight;
  for (const at::Tensor& other : Ddp().collectives().AllGather(weight)) {
    EXPECT_TRUE(at::equal(weight, other));
  }
}

// A line's error, with a reducer of each kind.
class ReducedTask final : public TaskOf<Example> {
 public:
  ReducedTask() {
    AddModel("line", line_.ptr());
    AddOptimizer("line", optimizer_);
  }
  StepOutput TrainStep(const Example& batch, StepContext&) override {
    return {.loss = at::mse_loss(line_->forward(batch.input), batch.target)};
  }
  StepOutput EvalStep(const Example& batch, StepContext&) override {
    const at::Tensor error =
        line_->forward(batch.input).sub(batch.target).abs();
    return {.loss = error.mean(),
            .metrics = {{"largest", error.max()},
                        {"median", error},
                        {"perplexity", error.mean()}}};
  }
  MetricReducers EvalReducers() const override {
    return {{"largest", ReduceMax()},
            {"median", ReduceWith([](const at::Tensor& rows) {
               return rows.median().item<double>();
             })},
            {"perplexity", ReduceExpOfMean()}};
  }

 private:
  TestLinear line_{(at::manual_seed(1), 3), 1};
  AdamW optimizer_{*line_};
};

// Some processes have no record at all.
TEST(TrainerDdpTest, EvaluatesFewerRecordsThanProcesses) {
  for (int64_t records = 1; records <= 5; ++records) {
    const auto one = MakeSingleProcessBackend(at::kCPU);
    const auto evaluate = [&](Backend& backend) {
      Trainer trainer(std::make_unique<ReducedTask>(), backend);
      return trainer.Evaluate(LinePoints(records), 2);
    };
    const Metrics expected = evaluate(*one);
    const Metrics actual = evaluate(Ddp());
    ASSERT_EQ(actual.size(), 4);
    for (const auto& [name, value] : expected) {
      EXPECT_NEAR(actual.at(name), value, 1e-6 * value) << name << records;
    }
  }
}

class ResumeDdpTest : public ::testing::Test {
 protected:
  // The same folder for all processes, empty.
  ResumeDdpTest() {
    folder_ = MemoryFolder() + "/" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    EmptyFolder();
  }
  void EmptyFolder() {
    Ddp().collectives().Barrier();
    if (Ddp().rank() == 0) std::filesystem::remove_all(folder_);
    Ddp().collectives().Barrier();
  }
  TrainOptions Saved() {
    TrainOptions options = Options();
    options.checkpoint = {.directory = folder_};
    options.resume = Resume::kIfPresent;
    return options;
  }
  std::string folder_;
};

TEST_F(ResumeDdpTest, EndsEqualWhereverItWasStopped) {
  const int64_t epochs = LongForm() ? 6 : 3;
  const auto train = [&](TrainOptions options, int64_t stop_at = -1) {
    options.length = Epochs(epochs);
    return Train(options, &Ddp(), stop_at);
  };
  const Outcome straight = train(Options());
  for (int64_t stop = 1; stop < 4 * epochs; ++stop) {  // 4 batches per epoch
    EmptyFolder();
    train(Saved(), stop);
    const Outcome resumed = train(Saved());
    EXPECT_TRUE(at::equal(resumed.weight, straight.weight)) << stop;
    EXPECT_EQ(resumed.train_losses, straight.train_losses) << stop;
    EXPECT_EQ(resumed.eval_losses, straight.eval_losses) << stop;
  }
}

// Each process decides for itself: whether it wants to stop, when and why, and
// by which callback. All must end at the same step, for the same reason.
TEST_F(ResumeDdpTest, ProcessesThatDisagreeEndTogether) {
  std::mt19937 together(1);  // the same on all
  std::mt19937 alone(100 + static_cast<unsigned>(Ddp().rank()));
  int64_t stopped = 0;
  const int64_t runs = LongForm() ? 100 : 30;
  for (int64_t run = 0; run < runs; ++run) {
    LineRig rig(/*lr=*/0.1, &Ddp());
    TrainOptions options = Saved();
    options.length = Epochs(2);
    options.per_device_batch_size /= Ddp().num_processes();
    options.checkpoint.save = Every(Batches(1 + together() % 4));
    options.checkpoint.asynchronous = together() % 2 == 0;
    options.evaluate = Every(Batches(1 + together() % 4));
    const auto disagree = [&](const auto& event, Control& control) {
      if (alone() % 40 == 0) {
        control.RequestStop(absl::StrCat("rank ", Ddp().rank(),
                                         " says so, after event ",
                                         typeid(event).name()));
      }
    };
    rig.trainer().Add(On<StepEnd>(disagree));
    rig.trainer().Add(On<EvalEnd>(disagree));
    rig.trainer().Add(On<EpochStart>(disagree));
    rig.trainer().Add(On<EpochEnd>(disagree));
    const RunResult result = rig.trainer().Train(options);
    stopped += result.ending == RunEnding::kStopped;
    EXPECT_EQ(result.message.empty(), result.ending != RunEnding::kStopped);
    const std::string mine =
        absl::StrCat(result.clock.updates(), " ", result.clock.samples(), " ",
                     result.ending == RunEnding::kStopped, " ", result.message);
    for (const std::string& other : GatherText(Ddp().collectives(), mine)) {
      EXPECT_EQ(mine, other) << "run " << run;
    }
    if (result.ending == RunEnding::kFinished) EmptyFolder();
  }
  EXPECT_GT(stopped, runs / 5) << "too few of the runs were stopped";
  EXPECT_LT(stopped, runs);
}

// One process, then all, then one again, each time within a window.
TEST_F(ResumeDdpTest, GoesOnWithAnotherNumberOfProcesses) {
  const Outcome straight = Train(Options(), nullptr);
  if (Ddp().rank() == 0) Train(Saved(), nullptr, 3);
  Ddp().collectives().Barrier();
  Train(Saved(), &Ddp(), 4);
  Ddp().collectives().Barrier();
  if (Ddp().rank() == 0) {
    const Outcome end = Train(Saved(), nullptr);
    EXPECT_EQ(PositionOf(end.result.clock), PositionOf(straight.result.clock));
    EXPECT_TRUE(at::allclose(end.weight, straight.weight, 1e-6, 1e-7));
    ExpectNear(end.train_losses, straight.train_losses);
    ExpectNear(end.eval_losses, straight.eval_losses);
  }
  Ddp().collectives().Barrier();
}

// All processes end within an epoch, or at its end; one goes on.
TEST_F(ResumeDdpTest, ALongerRunGoesOnWithAnotherNumberOfProcesses) {
  const Outcome straight = Train(Options(), nullptr);
  for (const int64_t shorter : {1, 2, 3}) {  // 2 updates per epoch
    EmptyFolder();
    TrainOptions options = Saved();
    options.length = Updates(static_cast<double>(shorter));
    Train(options, &Ddp());
    Ddp().collectives().Barrier();
    if (Ddp().rank() != 0) continue;
    const Outcome end = Train(Saved(), nullptr);
    EXPECT_EQ(PositionOf(end.result.clock), PositionOf(straight.result.clock));
    EXPECT_TRUE(at::allclose(end.weight, straight.weight, 1e-6, 1e-7));
    ExpectNear(end.train_losses, straight.train_losses);
    ExpectNear(end.eval_losses, straight.eval_losses);
  }
  Ddp().collectives().Barrier();
}

}  // namespace
}  // namespace trainyard
