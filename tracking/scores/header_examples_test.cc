// The examples of the headers and of ../README.md, in a run.
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/make_backend.h"
#include "tracking/scores/class_scores.h"
#include "tracking/scores/ranking_scores.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/optim/adamw.h"
#include "trainer/supervised.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

class ScoresExampleTest : public ::testing::Test {
 protected:
  std::vector<std::string> Evaluate(std::unique_ptr<Task> task) {
    Trainer trainer(std::move(task), optimizer, *backend);
    return Evaluate(trainer);
  }
  static std::vector<std::string> Evaluate(Trainer& trainer) {
    std::vector<std::string> names;
    const DatasetPtr data = MakeTensorDataset(
        Example{at::randn({6, 4}), at::zeros({6}, at::kLong)});
    for (const auto& [name, value] : trainer.Evaluate(data)) {
      names.push_back(name);
    }
    return names;
  }

  TestLinear model{4, 2};
  AdamW optimizer{*model};
  std::unique_ptr<Backend> backend = MakeBackend("sp");
};

TEST_F(ScoresExampleTest, SupervisedMetricHeader) {
  const NamedMetrics metrics = {{"accuracy", Accuracy()},
                                {"f1", F1({.average = ScoreAverage::kMicro})}};
  Trainer trainer(Supervised(model, CrossEntropy(), metrics), optimizer,
                  *backend);
  EXPECT_THAT(
      Evaluate(trainer),
      ElementsAre("evaluation_accuracy", "evaluation_f1", "evaluation_loss"));
}

TEST_F(ScoresExampleTest, ClassScoresHeader) {
  auto task =
      Supervised(model, CrossEntropy(),
                 {{"f1", F1()},
                  {"recall", Recall({.average = ScoreAverage::kPerClass})},
                  {"confusion", ConfusionMatrix()}});
  EXPECT_THAT(
      Evaluate(std::move(task)),
      ElementsAre("evaluation_confusion_0_0", "evaluation_confusion_0_1",
                  "evaluation_confusion_1_0", "evaluation_confusion_1_1",
                  "evaluation_f1", "evaluation_loss", "evaluation_recall_0",
                  "evaluation_recall_1"));
}

TEST_F(ScoresExampleTest, RankingScoresHeader) {
  auto task = Supervised(
      model, CrossEntropy(),
      {{"auc", AucRoc()},
       {"ap", AveragePrecision({.average = ScoreAverage::kPerClass})}});
  EXPECT_THAT(Evaluate(std::move(task)),
              ElementsAre("evaluation_ap_0", "evaluation_ap_1",
                          "evaluation_auc", "evaluation_loss"));
}

// A task of one's own, with the same metrics.
class OwnTask final : public TaskOf<Example> {
 public:
  explicit OwnTask(TestLinear model) : model_(std::move(model)) {
    AddModel("model", model_.ptr());
  }
  StepOutput TrainStep(const Example& batch, StepContext&) override {
    return {.loss = CrossEntropy()(model_->forward(batch.input), batch.target)};
  }
  StepOutput EvalStep(const Example& batch, StepContext&) override {
    const at::Tensor outputs = model_->forward(batch.input);
    return {.metrics = {{"f1", f1_.of_batch(outputs, batch.target)}}};
  }
  MetricReducers EvalReducers() const override { return {{"f1", f1_.reducer}}; }

 private:
  TestLinear model_;
  SupervisedMetric f1_ = F1({.average = ScoreAverage::kPerClass});
};

TEST_F(ScoresExampleTest, TaskOfItsOwn) {
  EXPECT_THAT(Evaluate(std::make_unique<OwnTask>(model)),
              ElementsAre("evaluation_f1_0", "evaluation_f1_1"));
}

}  // namespace
}  // namespace trainyard
