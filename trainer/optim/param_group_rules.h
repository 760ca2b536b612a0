// Rules that split param groups. Each takes groups and returns groups, so rules
// can be combined. The fields are those of the optimizer that gets the groups.
//
//   ParamGroups groups = NoDecayForBiasAndNorm(*model);
//   groups = OverrideByName(groups, {{"head.*", {{"lr", 1e-2}}}});
//   AdamW optimizer(groups, {.lr = 1e-3, .weight_decay = 0.05});
//
// Patterns are globs over full parameter names: '*' matches any characters, '?'
// matches one character. Thread-compatible.
#ifndef TRAINYARD_TRAINER_OPTIM_PARAM_GROUP_RULES_H_
#define TRAINYARD_TRAINER_OPTIM_PARAM_GROUP_RULES_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/optim/param_groups.h"

namespace trainyard {

bool MatchesGlob(std::string_view name, std::string_view pattern);

// Sets weight_decay to 0 for parameters with fewer than two dimensions. These
// are biases and the weights of norms; decay does not regularise them.
ParamGroups NoDecayForBiasAndNorm(const ParamGroups& groups);

struct NameRule {
  std::string pattern;
  std::map<std::string, double> overrides;
};

// Adds the overrides of the first rule whose pattern matches the parameter's
// name; they replace earlier overrides of the same field. Throws
// c10::ValueError, naming the pattern, if a rule applies to no parameter.
ParamGroups OverrideByName(const ParamGroups& groups,
                           const std::vector<NameRule>& rules);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_PARAM_GROUP_RULES_H_
