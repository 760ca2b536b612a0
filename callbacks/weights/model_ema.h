// ModelEma keeps an exponential moving average of a model's weights during
// training. Every evaluation of the run is repeated with the averages: the
// metric "eval_loss" of the model is "ema_eval_loss" of the averages.
//
//   trainer.Add(ModelEma(*model, {.decay = {.decay = 0.999}}));
//   trainer.Add(SaveBest(trainer.task().NamedTensors(),
//                        {.directory = "runs/first/best",
//                         .metric = "ema_eval_loss"}));
//
// It averages parameters and buffers once per update; see finetuning/ema.h. The
// model has the averages during their evaluation, so the SaveBest above saves
// the best averages, and the model has them at the end.
//
// Its state is the averages: a resumed run continues with them. A new run
// starts from the model's weights. Every rank keeps whole averages, and a
// backend that shards parameters gathers them after each update.
//
// Thread-compatible.
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
  // Whether to evaluate the averages.
  bool evaluate = true;
  // Prepended to the names of their metrics, with an underscore.
  std::string prefix = "ema";
  // Whether to load the averages into the model when a run ends without an
  // error.
  bool apply_at_end = false;
};

class ModelEma final : public Callback, public Stateful, public OtherWeights {
 public:
  // Shares the model's tensors. Throws std::invalid_argument, which names the
  // option, for a bad one.
  explicit ModelEma(const AveragedTensors& model, ModelEmaOptions options = {});

  // Before callbacks that use the averages.
  int priority() const override { return -10; }

  void OnRunStart(const RunStart& e, Control&) override;
  void OnUpdateEnd(const UpdateEnd& e, Control&) override;
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
  // Averages, if the run has made an update since the last time.
  void Follow(const RunClock& clock);

  ModelEmaOptions options_;
  std::vector<NamedTensor> model_;
  std::unique_ptr<Ema> ema_;
  std::unique_ptr<Ema::Swap> swap_;
  Backend* backend_ = nullptr;  // of the run
  // Updates of the run that were averaged.
  int64_t updates_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_WEIGHTS_MODEL_EMA_H_
