// GradualUnfreezing unfreezes parts of a model as training goes on, and hands
// them to the optimizer:
//
//   ModelFreezer freezer(*model);
//   freezer.FreezeGroups();                              // all but the head
//   AdamW optimizer(*model, {.lr = 1e-3});
//   trainer.Add(GradualUnfreezing(
//       freezer, optimizer,
//       {{.after_epochs = 1, .from = -2, .to = -2},
//        {.after_epochs = 3, .from = 0, .to = -3,
//         .overrides = {{"lr", 1e-4}}}}));
//
// What is unfrozen comes to the optimizer as a group of its own, unless the
// optimizer has it already; what the optimizer has is not disturbed. A run that
// goes on from a checkpoint has frozen and unfrozen what the saved one had.
//
// Thread-compatible: the loop calls it from one thread. Borrows the freezer and
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
  // How many epochs are trained before it. REQUIRES: >= 0.
  int64_t after_epochs = 1;
  // Groups, as ModelFreezer counts them.
  int64_t from = -1;
  int64_t to = -1;
  // If not empty, what it names instead of groups.
  std::string pattern = {};
  // Where the new group differs from the optimizer's options.
  std::map<std::string, double> overrides = {};
};

class GradualUnfreezing final : public Callback, public Stateful {
 public:
  // Steps in any order. Throws as ModelFreezer does if one of them names what
  // is not there, now rather than in its epoch.
  GradualUnfreezing(ModelFreezer& freezer, Optimizer& optimizer,
                    std::vector<UnfreezeStep> steps);

  // Before callbacks that look at what is trained.
  int priority() const override { return -50; }

  void OnEpochStart(const EpochStart& e, Control& control) override;
  // The loop has called train() before it.
  void OnStepStart(const StepStart& e, Control& control) override;

  // With the freezer's own state.
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
