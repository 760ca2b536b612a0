// LearningRateFinder trains with a learning rate that grows from update to
// update until the loss diverges, and suggests one. The run is a trial:
// afterwards weights, optimizer, backend and random numbers are as before it.
//
//   auto& finder = trainer.Add(
//       LearningRateFinder(optimizer, trainer.task().NamedTensors()));
//   trainer.Train({.data = train, .length = Epochs(100)});  // the trial: stops
//   std::cout << finder.curve().Table();
//   optimizer.Field(0, "lr") = finder.curve().suggestion().value_or(1e-3);
//   trainer.Train({.data = train, .length = Epochs(5)});  // an ordinary run
//
// It takes part in the first run it sees, which must save no checkpoints, and
// does nothing afterwards. Groups of different rates keep their ratios.
//
// Thread-compatible.
#ifndef TRAINYARD_CALLBACKS_WEIGHTS_LEARNING_RATE_FINDER_H_
#define TRAINYARD_CALLBACKS_WEIGHTS_LEARNING_RATE_FINDER_H_

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "backends/backend.h"
#include "callbacks/callback.h"
#include "callbacks/weights/lr_curve.h"
#include "trainer/control.h"
#include "trainer/events.h"
#include "trainer/model/named_tensor.h"
#include "trainer/optim/optimizer.h"
#include "trainer/state.h"

namespace trainyard {

class LearningRateFinder final : public Callback {
 public:
  // Borrows the optimizer, and shares the tensors of `weights`. Throws
  // std::invalid_argument, naming the option, for an invalid one.
  LearningRateFinder(Optimizer& optimizer, std::vector<NamedTensor> weights,
                     const LrCurveOptions& options = {});

  // After schedules and callbacks that set the rate, so that its rate is used.
  int priority() const override { return 100; }

  void OnRunStart(const RunStart& e, Control&) override;
  void OnStepStart(const StepStart& e, Control&) override;
  void OnLossEnd(const LossEnd& e, Control&) override;
  void OnGradientsReady(const GradientsReady& e, Control&) override;
  void OnUpdateEnd(const UpdateEnd& e, Control&) override;
  void OnStepEnd(const StepEnd& e, Control& control) override;
  void OnCheckpointSaved(const CheckpointSaved& e, Control&) override;
  void OnRunEnd(const RunEnd& e, Control&) override;

  // The losses measured so far.
  const LrCurve& curve() const { return curve_; }

 private:
  // What the trial changes.
  struct Before {
    std::vector<NamedTensor> weights, optimizer;
    std::vector<double> rates;  // by group
    State random, backend;
  };

  double MeanLoss() const;

  Optimizer& optimizer_;
  std::vector<NamedTensor> weights_;
  LrCurve curve_;
  // Of the run; null before it starts.
  Backend* backend_ = nullptr;
  // While the trial runs.
  std::optional<Before> before_;
  bool done_ = false;
  // Sums over the batches of the current window.
  at::Tensor loss_;
  double weight_ = 0;
  bool window_ended_ = false;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_WEIGHTS_LEARNING_RATE_FINDER_H_
