// The twin of from_lightning.py. Needs torch/nn: its model is one.
#include <ATen/ops/cross_entropy_loss.h>

#include <memory>
#include <utility>

#include "backends/make_backend.h"
#include "callbacks/stopping/early_stopping.h"
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

class RingModule final : public TaskOf<Example> {
 public:
  explicit RingModule(torch::nn::Sequential net) : net_(std::move(net)) {
    AddModel("net", net_.ptr());
  }
  StepOutput TrainStep(const Example& batch, StepContext&) override {
    const at::Tensor outputs = net_->forward(batch.input);
    return {.loss = at::cross_entropy_loss(outputs, batch.target)};
  }
  StepOutput EvalStep(const Example& batch, StepContext& step) override {
    return TrainStep(batch, step);
  }

 private:
  torch::nn::Sequential net_;
};

int Run() {
  torch::nn::Sequential net = MakeRingNet();
  AdamW optimizer(*net, {.lr = kRingRate});
  const auto backend = MakeBackend("sp");
  Trainer trainer(std::make_unique<RingModule>(net), optimizer, *backend);
  trainer.Add(EarlyStopping({.metric = "eval_loss", .patience = 2}));
  const RunResult result = trainer.Train({.data = RingTrainData(),
                                          .loader = InRingOrder(),
                                          .eval_data = RingEvalData(),
                                          .length = Epochs(kRingEpochs),
                                          .per_device_batch_size = kRingBatch,
                                          .clip = ClipNorm(1.0),
                                          .schedule = CosineAnnealing()});
  ReportRing(*net);
  return ExitCode(result.ending);
}

}  // namespace
}  // namespace trainyard

int main() { return trainyard::Main(trainyard::Run); }
