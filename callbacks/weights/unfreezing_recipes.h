// Ready lists of steps for GradualUnfreezing. Both need a model with all groups
// but the last one frozen:
//
//   freezer.FreezeGroups();
//   AdamW optimizer(*model, {.lr = 1e-3});
//   trainer.Add(GradualUnfreezing(freezer, optimizer,
//                                 OneGroupAtATime(freezer, {.lr = 1e-3})));
//
// Linear probing, then fine-tuning:
//
//   trainer.Add(GradualUnfreezing(
//       freezer, optimizer, AllAfterProbing({.probe_epochs = 3, .lr = 1e-5})));
#ifndef TRAINYARD_CALLBACKS_WEIGHTS_UNFREEZING_RECIPES_H_
#define TRAINYARD_CALLBACKS_WEIGHTS_UNFREEZING_RECIPES_H_

#include <cstdint>
#include <vector>

#include "callbacks/weights/gradual_unfreezing.h"
#include "finetuning/freezer/model_freezer.h"

namespace trainyard {

struct OneGroupAtATimeOptions {
  // Epochs before the first step, and between two. REQUIRES: >= 1.
  int64_t epochs_each = 1;
  // The last group's learning rate, as the optimizer has it. REQUIRES: > 0.
  double lr = 1e-3;
  // The learning rate of a group over that of the group after it: 1 / 2.6 in
  // Howard and Ruder, "Universal Language Model Fine-tuning". REQUIRES: above
  // 0, at most 1.
  double lr_decay = 1 / 2.6;
};

// From the second last group to the first. Groups without parameters are
// skipped.
std::vector<UnfreezeStep> OneGroupAtATime(
    const ModelFreezer& freezer, const OneGroupAtATimeOptions& options = {});

struct AllAfterProbingOptions {
  // Epochs in which the last group is trained alone. REQUIRES: >= 1.
  int64_t probe_epochs = 1;
  // The learning rate of all other groups after that. A low one keeps what the
  // model has learned. REQUIRES: > 0.
  double lr = 1e-5;
};

std::vector<UnfreezeStep> AllAfterProbing(
    const AllAfterProbingOptions& options = {});

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_WEIGHTS_UNFREEZING_RECIPES_H_
