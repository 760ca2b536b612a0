// A task that evaluates a whole dataset at once, on several processes: rank 0
// does it, and the others wait for as long as it takes.
#include <ATen/ops/mse_loss.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "backends/make_backend.h"
#include "tools/launch/testing/test_rank.h"
#include "trainer/error_message.h"
#include "trainer/optim/adamw.h"
#include "trainer/task.h"
#include "trainer/testing/line_rig.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

constexpr std::chrono::seconds kTimeout(4);

Backend& Ddp() {
  static const std::unique_ptr<Backend> backend = MakeBackend(
      "ddp", {.device = at::Device(TestDevice()), .timeout = kTimeout});
  return *backend;
}

class SlowTask final : public DatasetTaskOf<Example> {
 public:
  explicit SlowTask(std::function<void()> evaluate)
      : evaluate_(std::move(evaluate)) {
    AddModel("line", line_.ptr());
    AddOptimizer("adamw", optimizer_);
  }
  StepOutput TrainStep(const Example& batch, StepContext&) override {
    return {.loss = at::mse_loss(line_->forward(batch.input), batch.target)};
  }
  Metrics EvaluateDataset(BatchSource&, StepContext&) override {
    EXPECT_EQ(TestRank(), 0);
    evaluate_();
    return {{"answer", 42}};
  }

 private:
  TestLinear line_{3, 1};
  AdamW optimizer_{*line_};
  std::function<void()> evaluate_;
};

TEST(DatasetTaskDdpTest, TheOthersWaitLongerThanTheTimeout) {
  Trainer trainer(std::make_unique<SlowTask>(
                      [] { std::this_thread::sleep_for(kTimeout * 5 / 4); }),
                  Ddp());
  EXPECT_EQ(trainer.Evaluate(LinePoints(8)).at("evaluation_answer"), 42);
}

TEST(DatasetTaskDdpTest, AFailureEndsTheWaiting) {
  Trainer trainer(std::make_unique<SlowTask>(
                      [] { throw std::runtime_error("no such file"); }),
                  Ddp());
  std::string message;
  try {
    trainer.Evaluate(LinePoints(8));
  } catch (const std::exception& e) {
    message = ErrorMessage(e);
  }
  EXPECT_THAT(message,
              HasSubstr(TestRank() == 0 ? "no such file"
                                        : "a rank that this one waited for"));
}

}  // namespace
}  // namespace trainyard
