// An update that a gradient scaler skips did not happen: no schedule moves, no
// average, no counter.
#include <ATen/Context.h>
#include <ATen/ops/mse_loss.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "backends/make_backend.h"
#include "callbacks/weights/model_ema.h"
#include "trainer/optim/adamw.h"
#include "trainer/task.h"
#include "trainer/testing/line_rig.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

// Its value is how often it was stepped.
ScheduleFactory Counting() {
  struct Count final : Schedule {
    double ValueAt(int64_t count, double) const override {
      return static_cast<double>(count);
    }
  };
  return [](const RunLength&) { return std::make_unique<Count>(); };
}

// The gradients of the batches `first` to `last` of the run, counted from 1,
// overflow; their losses do not.
class OverflowingLine final : public TaskOf<Example> {
 public:
  OverflowingLine(int64_t first, int64_t last) : first_(first), last_(last) {
    AddModel("line", line.ptr());
    AddOptimizer("adamw", optimizer);
  }
  StepOutput TrainStep(const Example& batch, StepContext&) override {
    const at::Tensor loss = Loss(batch);
    ++batches_;
    if (batches_ < first_ || batches_ > last_) return {.loss = loss};
    return {.loss = loss.add(loss.sub(loss.detach()).mul(1e37))};
  }
  StepOutput EvalStep(const Example& batch, StepContext&) override {
    return {.loss = Loss(batch)};
  }

  TestLinear line{3, 1};
  AdamW optimizer{*line, {.lr = 0.1}};

 private:
  at::Tensor Loss(const Example& batch) const {
    return at::mse_loss(line->forward(batch.input).to(at::kFloat),
                        batch.target);
  }
  int64_t first_, last_, batches_ = 0;
};

TEST(SkippedUpdateTest, MovesNoScheduleAndNoCounter) {
  auto task = std::make_unique<OverflowingLine>(2, 3);
  OverflowingLine& line = *task;
  const auto backend = MakeBackend(
      "sp-amp", {.amp = {.dtype = at::kHalf, .scaler = {.init_scale = 16}}});
  Trainer trainer(std::move(task), *backend);
  ModelEma ema(*line.line, {.decay = {.decay = 0.5}});
  trainer.Add(ema);
  std::vector<bool> updated;
  std::vector<double> by_update, by_batch;
  std::vector<int64_t> updates;
  trainer.Add(On<UpdateEnd>(
      [&](const UpdateEnd& e, Control&) { updated.push_back(e.updated); }));
  trainer.Add(On<StepEnd>([&](const StepEnd& e, Control&) {
    by_update.push_back(line.optimizer.Field(0, "weight_decay"));
    by_batch.push_back(line.optimizer.Field(0, "eps"));
    updates.push_back(e.clock.updates());
  }));
  const RunResult result = trainer.Train(
      {.data = LinePoints(20),
       .length = Epochs(1),
       .per_device_batch_size = 4,
       .schedules = {{.field = "weight_decay", .schedule = Counting()},
                     {.field = "eps",
                      .schedule = Counting(),
                      .step_on = StepOn::kBatch}}});
  EXPECT_THAT(updated, ElementsAre(true, false, false, true, true));
  EXPECT_THAT(by_update, ElementsAre(1, 1, 1, 2, 3));
  EXPECT_THAT(by_batch, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(updates, ElementsAre(1, 1, 1, 2, 3));
  EXPECT_EQ(result.clock.updates(), 3);
  EXPECT_EQ(ema.ema().updates(), 3);
}

}  // namespace
}  // namespace trainyard
