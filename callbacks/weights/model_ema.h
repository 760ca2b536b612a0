// ModelEma keeps an exponential moving average of a model while it trains, and
// has every evaluation of the run made with the averages, too: what the model
// measures as "eval_loss", they measure as "ema_eval_loss".
//
//   trainer.Add(ModelEma(*model, {.decay = {.decay = 0.999}}));
//   trainer.Add(SaveBest(trainer.task().NamedTensors(),
//                        {.directory = "runs/first/best",
//                         .metric = "ema_eval_loss"}));
//
// It moves once per update, with parameters and buffers; see finetuning/ema.h.
// During such an evaluation the model holds the averages: so the SaveBest above
// saves the best of them, and the model has those at the end.
//
// Its state is the averages: a resumed run continues with them. A new run
// starts from the model's weights.
//
// Thread-compatible: the loop calls it from one thread.
#ifndef TRAINYARD_CALLBACKS_WEIGHTS_MODEL_EMA_H_
#define TRAINYARD_CALLBACKS_WEIGHTS_MODEL_EMA_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "callbacks/callback.h"
#include "callbacks/other_weights.h"
#include "finetuning/ema.h"
#include "trainer/control.h"
#include "trainer/events.h"
#include "trainer/model/named_tensor.h"
#include "trainer/state.h"

namespace trainyard {

struct ModelEmaOptions {
  EmaDecayOptions decay = {};
  // Whether evaluations are made with the averages, too.
  bool evaluate = true;
  // Put before the names of what those measure, with an underscore.
  std::string prefix = "ema";
  // Whether the model has the averages when a run ends, but for an error.
  bool apply_at_end = false;
};

class ModelEma final : public Callback, public Stateful, public OtherWeights {
 public:
  // Shares the model's tensors. Throws std::invalid_argument, which names the
  // option, for a bad one.
  explicit ModelEma(const AveragedTensors& model, ModelEmaOptions options = {});

  // Before those that look at it.
  int priority() const override { return -10; }

  void OnRunStart(const RunStart& e, Control&) override;
  void OnStepEnd(const StepEnd& e, Control&) override;
  void OnRunEnd(const RunEnd& e, Control&) override;

  State SaveState() const override;
  void LoadState(const State& state) override;

  std::string prefix() const override { return options_.prefix; }
  bool wanted() const override { return options_.evaluate; }
  void Enter() override;
  void Leave() override;

  Ema& ema() { return *ema_; }

 private:
  ModelEmaOptions options_;
  std::vector<NamedTensor> model_;
  std::unique_ptr<Ema> ema_;
  std::unique_ptr<Ema::Swap> swap_;
  // Updates of the run that were averaged.
  int64_t updates_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_WEIGHTS_MODEL_EMA_H_
