// The twin of from_trainer_tools.py. Needs torch/nn: its model is one.
#include <absl/strings/str_format.h>

#include <cstdint>

#include "backends/make_backend.h"
#include "callbacks/callback.h"
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

class CountUpdates final : public Callback {
 public:
  void OnRunStart(const RunStart&, Control&) override { updates_ = 0; }
  void OnUpdateEnd(const UpdateEnd&, Control&) override { ++updates_; }
  void OnRunEnd(const RunEnd&, Control&) override {
    absl::PrintF("%d updates\n", updates_);
  }

 private:
  int64_t updates_ = 0;
};

int Run() {
  torch::nn::Sequential net = MakeRingNet();
  AdamW optimizer(*net, {.lr = kRingRate});
  const auto backend = MakeBackend("sp");
  Trainer trainer(Supervised(net, CrossEntropy()), optimizer, *backend);
  trainer.Add(CountUpdates());
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
