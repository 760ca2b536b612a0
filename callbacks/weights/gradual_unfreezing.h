// GradualUnfreezing unfreezes parts of a model during training, and adds them
// to the optimizer:
//
//   freezer.FreezeGroups();  // all but the head
//   …
//   trainer.Add(GradualUnfreezing(
//       freezer, optimizer, {{.after_epochs = 1, .from = -2, .to = -2}}));
//
// Parameters that are unfrozen become a new group of the optimizer, unless it
// has them already; its other groups do not change. A resumed run has the same
// parts frozen as the run that was saved.
//
// Thread-compatible. Borrows the freezer and
// the optimizer.
#ifndef TRAINYARD_CALLBACKS_WEIGHTS_GRADUAL_UNFREEZING_H_
#define TRAINYARD_CALLBACKS_WEIGHTS_GRADUAL_UNFREEZING_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "callbacks/callback.h"
#include "finetuning/freezer/model_freezer.h"
#include "trainer/control.h"
#include "trainer/events.h"
#include "trainer/optim/optimizer.h"
#include "trainer/state.h"

namespace trainyard {

struct UnfreezeStep {
  // The number of epochs before it. REQUIRES: >= 0.
  int64_t after_epochs = 1;
  // Groups, as ModelFreezer counts them.
  int64_t from = -1;
  int64_t to = -1;
  // A pattern of names, used instead of groups if it is not empty.
  std::string pattern = {};
  // Options of the new group that differ from the optimizer's.
  std::map<std::string, double> overrides = {};
};

class GradualUnfreezing final : public Callback, public Stateful {
 public:
  // Steps may be in any order. Throws like ModelFreezer if one of them names
  // something that does not exist.
  GradualUnfreezing(ModelFreezer& freezer, Optimizer& optimizer,
                    std::vector<UnfreezeStep> steps);

  // Before callbacks that use the list of trained parameters.
  int priority() const override { return -50; }

  void OnEpochStart(const EpochStart& e, Control& control) override;
  // The loop has called train() before it.
  void OnStepStart(const StepStart& e, Control& control) override;

  // Includes the freezer's state.
  State SaveState() const override;
  void LoadState(const State& state) override;

 private:
  void Hand(const UnfreezeStep& step, std::vector<NamedTensor> unfrozen);

  ModelFreezer& freezer_;
  Optimizer& optimizer_;
  std::vector<UnfreezeStep> steps_;  // by epoch
  // Of each step done: the names that it gave to the optimizer, one per line.
  std::vector<std::string> given_;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_WEIGHTS_GRADUAL_UNFREEZING_H_
