// The twin of from_pymarlin.py. Needs torch/nn: its model is one.
#include <ATen/ops/cross_entropy_loss.h>
#include <absl/strings/str_format.h>

#include "backends/make_backend.h"
#include "callbacks/callback.h"
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

// A task that is also a callback receives the events, as PyMarlin's module.
class RingModule final : public TaskOf<Example>, public Callback {
 public:
  RingModule() : net_(MakeRingNet()), optimizer_(*net_, {.lr = kRingRate}) {
    AddModel("net", net_.ptr());
    AddOptimizer("optimizer", optimizer_);
  }
  StepOutput TrainStep(const Example& batch, StepContext&) override {
    const at::Tensor outputs = net_->forward(batch.input);
    return {.loss = at::cross_entropy_loss(outputs, batch.target)};
  }
  StepOutput EvalStep(const Example& batch, StepContext& step) override {
    return TrainStep(batch, step);
  }
  void OnEvalEnd(const EvalEnd& e, Control&) override {
    absl::PrintF("update %d: eval_loss=%.6f\n", e.clock.updates(),
                 e.metrics.at("eval_loss"));
  }
  torch::nn::SequentialImpl& net() { return *net_; }

 private:
  torch::nn::Sequential net_;
  AdamW optimizer_;
};

int Run() {
  RingModule module;
  const auto backend = MakeBackend("sp");
  Trainer trainer(module, *backend);
  const RunResult result = trainer.Train({.data = RingTrainData(),
                                          .loader = InRingOrder(),
                                          .eval_data = RingEvalData(),
                                          .length = Epochs(kRingEpochs),
                                          .per_device_batch_size = kRingBatch,
                                          .clip = ClipNorm(1.0),
                                          .schedule = CosineAnnealing()});
  ReportRing(module.net());
  return ExitCode(result.ending);
}

}  // namespace
}  // namespace trainyard

int main() { return trainyard::Main(trainyard::Run); }
