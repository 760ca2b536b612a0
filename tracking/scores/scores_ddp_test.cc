// Several ranks measure what one process measures, through the trainer.
#include <ATen/Context.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/randn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/make_backend.h"
#include "backends/single_process.h"
#include "tools/launch/testing/test_rank.h"
#include "tracking/scores/class_scores.h"
#include "tracking/scores/ranking_scores.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/optim/adamw.h"
#include "trainer/supervised.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::ElementsAreArray;

// One for all tests: its process group is the process's own.
Backend& Ddp() {
  static const std::unique_ptr<Backend> backend = MakeBackend("ddp");
  return *backend;
}

DatasetPtr Records(int64_t records) {
  at::manual_seed(4);
  const at::Tensor input = at::randn({records, 5});
  return MakeTensorDataset(Example{input, input.sum(1).abs().to(at::kLong)});
}

Metrics Evaluate(int64_t records, Backend& backend) {
  at::manual_seed(2);
  TestLinear model(5, 12);
  AdamW optimizer(*model);
  const NamedMetrics metrics = {
      {"accuracy", Accuracy()},
      {"f1", F1({.average = ScoreAverage::kMicro})},
      {"recall", Recall({.average = ScoreAverage::kPerClass})},
      {"confusion", ConfusionMatrix()},
      {"auc", AucRoc()},
      {"ap", AveragePrecision({.average = ScoreAverage::kPerClass})}};
  Trainer trainer(Supervised(model, CrossEntropy(), metrics), optimizer,
                  backend);
  return trainer.Evaluate(Records(records), 4);
}

TEST(ScoresDdpTest, EqualsOneProcess) {
  const auto one = MakeSingleProcessBackend(at::kCPU);
  for (const int64_t records : {1, 3, 13, 100}) {
    const Metrics expected = Evaluate(records, *one);
    const Metrics actual = Evaluate(records, Ddp());
    // Loss, accuracy, f1, auc; 12 classes twice; 144 pairs.
    ASSERT_EQ(expected.size(), 4 + 24 + 144);
    ASSERT_EQ(actual.size(), expected.size());
    for (const auto& [name, value] : expected) {
      SCOPED_TRACE(name + " of " + std::to_string(records) + " records");
      if (name == "evaluation_loss" || name == "evaluation_accuracy") {
        EXPECT_NEAR(actual.at(name), value, 1e-6);  // means of float32
      } else if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(actual.at(name)));
      } else {
        EXPECT_EQ(actual.at(name), value);
      }
    }
  }
}

// Keeps the input of each record, in the order in which the reducer gets them.
class OrderTask final : public TaskOf<Example> {
 public:
  explicit OrderTask(std::vector<int64_t>& seen) : seen_(seen) {
    AddModel("line", line_.ptr());
    AddOptimizer("line", optimizer_);
  }
  StepOutput TrainStep(const Example& batch, StepContext&) override {
    return {.loss = at::mse_loss(line_->forward(batch.input), batch.target)};
  }
  StepOutput EvalStep(const Example& batch, StepContext&) override {
    StepOutput output{.metrics = {{"order", batch.input}}};
    // A masked batch on one rank: the ranks' batches still match.
    if (batch.input.eq(8).any().item<bool>()) output.weight = 0;
    return output;
  }
  MetricReducers EvalReducers() const override {
    return {{"order", ReduceWith([this](const at::Tensor& rows) {
               const at::Tensor numbers = rows.reshape({-1}).to(at::kLong);
               seen_.assign(
                   numbers.const_data_ptr<int64_t>(),
                   numbers.const_data_ptr<int64_t>() + numbers.numel());
               return 0.0;
             })}};
  }

 private:
  std::vector<int64_t>& seen_;
  TestLinear line_{(at::manual_seed(1), 1), 1};
  AdamW optimizer_{*line_};
};

TEST(ScoresDdpTest, ReducerGetsRowsInTheOrderOfTheData) {
  const int64_t ranks = Ddp().num_processes();
  for (const int64_t records : {1, 5, 8, 29}) {
    std::vector<int64_t> seen;
    Trainer trainer(std::make_unique<OrderTask>(seen), Ddp());
    const at::Tensor input =
        at::arange(records).to(at::kFloat).reshape({records, 1});
    trainer.Evaluate(MakeTensorDataset(Example{input, input}), 2);
    // In batches of two the masked one has 8 and 9, on the rank
    // that comes after 0 to 7.
    std::vector<int64_t> expected;
    for (int64_t i = 0; i < records; ++i) {
      if (i != 8 && i != 9) expected.push_back(i);
    }
    EXPECT_THAT(seen, ElementsAreArray(expected))
        << records << " records on " << ranks << " ranks";
  }
}

}  // namespace
}  // namespace trainyard
