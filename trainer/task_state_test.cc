// State beside the models and optimizers in a checkpoint: of a task that has
// some, and of callbacks that came or went since.
#include <ATen/ops/mse_loss.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "backends/make_backend.h"
#include "trainer/optim/adamw.h"
#include "trainer/task.h"
#include "trainer/testing/line_rig.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Counts its batches over all runs that go on from each other.
class CountingTask final : public TaskOf<Example>,
                           public Callback,
                           public Stateful {
 public:
  CountingTask() {
    AddModel("line", line_.ptr());
    AddOptimizer("adamw", optimizer_);
  }
  StepOutput TrainStep(const Example& batch, StepContext&) override {
    ++batches;
    return {.loss = at::mse_loss(line_->forward(batch.input), batch.target)};
  }
  StepOutput EvalStep(const Example&, StepContext&) override { return {}; }

  trainyard::State SaveState() const override {
    trainyard::State state;
    state.Set("batches", batches);
    return state;
  }
  void LoadState(const trainyard::State& state) override {
    batches = state.Get<int64_t>("batches");
  }

  int64_t batches = 0;

 private:
  TestLinear line_{3, 1};
  AdamW optimizer_{*line_};
};

class Remembering final : public Callback, public Stateful {
 public:
  std::string name() const override { return "Remembering"; }
  State SaveState() const override {
    State state;
    state.Set("loaded", loaded);
    return state;
  }
  void LoadState(const State&) override { loaded = 1; }

  int64_t loaded = 0;
};

class TaskStateTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(folder_); }

  // Trains until so many epochs are done in all.
  void Train(int64_t num_epochs, CountingTask** task_made = nullptr,
             Remembering* callback = nullptr) {
    auto task = std::make_unique<CountingTask>();
    CountingTask* const made = task.get();
    trainer_ = std::make_unique<Trainer>(std::move(task), *backend_);
    if (callback != nullptr) trainer_->Add(*callback);
    trainer_->Train({.data = LinePoints(8),
                     .length = Epochs(num_epochs),
                     .per_device_batch_size = 4,
                     .checkpoint = {.directory = folder_},
                     .resume = Resume::kIfPresent});
    if (task_made != nullptr) *task_made = made;
  }

  const std::string folder_ = ::testing::TempDir() + "/task_state";
  const std::unique_ptr<Backend> backend_ = MakeBackend("sp");
  std::unique_ptr<Trainer> trainer_;
};

TEST_F(TaskStateTest, ATaskWithStateIsSaved) {
  Train(1);
  CountingTask* task = nullptr;
  Train(3, &task);
  EXPECT_EQ(task->batches, 6);  // 2 of the first run, 4 of the second
}

TEST_F(TaskStateTest, ACallbackWithoutSavedStateIsWarnedOf) {
  Train(1);
  ::testing::internal::CaptureStderr();
  Remembering callback;
  Train(2, nullptr, &callback);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("the checkpoint has no part \"callback "
                        "Remembering\""));
  EXPECT_EQ(callback.loaded, 0);
  // From here on it is in the checkpoints.
  ::testing::internal::CaptureStderr();
  Train(3, nullptr, &callback);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              Not(HasSubstr("Remembering")));
  EXPECT_EQ(callback.loaded, 1);
}

// A field that a callback changed, and no schedule: the resumed run has it.
TEST_F(TaskStateTest, AnOptimizersFieldsAreSaved) {
  LineRig first(/*lr=*/0.5);
  first.trainer().Add(On<EpochEnd>([&](const EpochEnd&, Control&) {
    first.optimizer().Field(0, "lr") = 0.125;
  }));
  TrainOptions options{.data = LinePoints(8),
                       .length = Epochs(1),
                       .checkpoint = {.directory = folder_},
                       .resume = Resume::kIfPresent};
  first.trainer().Train(options);
  LineRig second(/*lr=*/0.5);
  options.length = Epochs(2);
  second.trainer().Train(options);
  EXPECT_EQ(second.optimizer().Field(0, "lr"), 0.125);
}

}  // namespace
}  // namespace trainyard
