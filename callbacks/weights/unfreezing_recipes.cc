#include "callbacks/weights/unfreezing_recipes.h"

#include <c10/util/Exception.h>

#include <cmath>

namespace trainyard {
namespace {

void CheckEpochs(const char* recipe, const char* field, int64_t epochs) {
  TORCH_CHECK_VALUE(epochs >= 1, recipe, ": ", field, " is ", epochs,
                    "; it must be at least 1");
}

void CheckLr(const char* recipe, double lr) {
  TORCH_CHECK_VALUE(std::isfinite(lr) && lr > 0, recipe, ": lr is ", lr,
                    "; it must be above 0");
}

}  // namespace

std::vector<UnfreezeStep> OneGroupAtATime(
    const ModelFreezer& freezer, const OneGroupAtATimeOptions& options) {
  CheckEpochs("OneGroupAtATime", "epochs_each", options.epochs_each);
  CheckLr("OneGroupAtATime", options.lr);
  TORCH_CHECK_VALUE(options.lr_decay > 0 && options.lr_decay <= 1,
                    "OneGroupAtATime: lr_decay is ", options.lr_decay,
                    "; it must be above 0 and at most 1");
  std::vector<UnfreezeStep> steps;
  double lr = options.lr;
  for (auto group = static_cast<int64_t>(freezer.Groups().size()) - 2;
       group >= 0; --group) {
    if (freezer.OfGroups(group, group).empty()) continue;
    lr *= options.lr_decay;
    steps.push_back({.after_epochs = options.epochs_each *
                                     (static_cast<int64_t>(steps.size()) + 1),
                     .from = group,
                     .to = group,
                     .overrides = {{"lr", lr}}});
  }
  return steps;
}

std::vector<UnfreezeStep> AllAfterProbing(
    const AllAfterProbingOptions& options) {
  CheckEpochs("AllAfterProbing", "probe_epochs", options.probe_epochs);
  CheckLr("AllAfterProbing", options.lr);
  return {{.after_epochs = options.probe_epochs,
           .from = 0,
           .to = -1,
           .overrides = {{"lr", options.lr}}}};
}

}  // namespace trainyard
