// The twin of from_pytorch_accelerated.py. Needs torch/nn: its model is one.
#include "backends/make_backend.h"
#include "callbacks/printing/print_progress.h"
#include "callbacks/stopping/early_stopping.h"
#include "schedulers/cosine_annealing.h"
#include "tools/guide/coming_from/ring.h"
#include "trainer/losses.h"
#include "trainer/main.h"
#include "trainer/optim/adamw.h"
#include "trainer/optim/clip.h"
#include "trainer/supervised.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

int Run() {
  torch::nn::Sequential net = MakeRingNet();
  AdamW optimizer(*net, {.lr = kRingRate});
  const auto backend = MakeBackend("sp");
  Trainer trainer(Supervised(net, CrossEntropy()), optimizer, *backend);
  trainer.Add(PrintProgress());
  trainer.Add(EarlyStopping({.patience = 2}));
  const RunResult result = trainer.Train({.data = RingTrainData(),
                                          .loader = InRingOrder(),
                                          .eval_data = RingEvalData(),
                                          .length = Epochs(kRingEpochs),
                                          .per_device_batch_size = kRingBatch,
                                          .clip = ClipValue(1.0),
                                          .schedule = CosineAnnealing()});
  ReportRing(*net);
  return ExitCode(result.ending);
}

}  // namespace
}  // namespace trainyard

int main() { return trainyard::Main(trainyard::Run); }
