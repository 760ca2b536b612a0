// Ready rules for param groups. Each takes groups and splits them further, so
// that they combine; fields are those of the optimizer the groups go to.
//
//   ParamGroups groups = NoDecayForBiasAndNorm(*model);
//   groups = OverrideByName(groups, {{"head.*", {{"lr", 1e-2}}}});
//   AdamW optimizer(groups, {.lr = 1e-3, .weight_decay = 0.05});
//
// Patterns are globs over full parameter names: '*' is any run of characters,
// '?' any one.
#ifndef TRAINYARD_TRAINER_OPTIM_PARAM_GROUP_RULES_H_
#define TRAINYARD_TRAINER_OPTIM_PARAM_GROUP_RULES_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/optim/param_groups.h"

namespace trainyard {

bool MatchesGlob(std::string_view name, std::string_view pattern);

// Parameters of fewer than two dimensions get weight_decay 0: these are the
// biases, and the weights of norms, whose size is no sign of over-fitting.
ParamGroups NoDecayForBiasAndNorm(const ParamGroups& groups);

struct NameRule {
  std::string pattern;
  std::map<std::string, double> overrides;
};

// Parameters whose name matches a rule get its overrides, over those they have;
// the first rule that matches counts. Throws c10::ValueError, naming it, if a
// rule's pattern matches no parameter, or only such as match an earlier one.
ParamGroups OverrideByName(const ParamGroups& groups,
                           const std::vector<NameRule>& rules);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_PARAM_GROUP_RULES_H_
