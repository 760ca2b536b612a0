// The twin of from_determined.py. Needs torch/nn: its model is one.
#include <ATen/ops/cross_entropy_loss.h>

#include "backends/make_backend.h"
#include "schedulers/cosine_annealing.h"
#include "tools/guide/coming_from/ring.h"
#include "trainer/data/batch.h"
#include "trainer/main.h"
#include "trainer/optim/adamw.h"
#include "trainer/optim/clip.h"
#include "trainer/task.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

class RingTrial final : public TaskOf<Example> {
 public:
  RingTrial() : net_(MakeRingNet()), optimizer_(*net_, {.lr = kRingRate}) {
    AddModel("net", net_.ptr());
    AddOptimizer("optimizer", optimizer_);
  }
  StepOutput TrainStep(const Example& batch, StepContext& step) override {
    const at::Tensor loss =
        at::cross_entropy_loss(net_->forward(batch.input), batch.target);
    step.Backward(loss);
    step.Update(optimizer_, ClipNorm(1.0));
    return {.loss = loss};
  }
  StepOutput EvalStep(const Example& batch, StepContext&) override {
    const at::Tensor outputs = net_->forward(batch.input);
    return {.loss = at::cross_entropy_loss(outputs, batch.target)};
  }
  torch::nn::SequentialImpl& net() { return *net_; }

 private:
  torch::nn::Sequential net_;
  AdamW optimizer_;
};

int Run() {
  RingTrial trial;
  const auto backend = MakeBackend("sp");
  Trainer trainer(trial, *backend);
  const RunResult result = trainer.Train({.data = RingTrainData(),
                                          .loader = InRingOrder(),
                                          .eval_data = RingEvalData(),
                                          .length = Epochs(kRingEpochs),
                                          .per_device_batch_size = kRingBatch,
                                          .schedule = CosineAnnealing(),
                                          .evaluate = Every(Epochs(1))});
  ReportRing(trial.net());
  return ExitCode(result.ending);
}

}  // namespace
}  // namespace trainyard

int main() { return trainyard::Main(trainyard::Run); }
