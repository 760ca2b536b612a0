#include "trainer/optim/param_group_rules.h"

#include <c10/util/Exception.h>
#include <fnmatch.h>

#include <functional>
#include <utility>

namespace trainyard {
namespace {

// Splits each group by the number that `choose` returns for its parameters, in
// the order in which the numbers first occur. The `overrides` of a number
// replace those of the group.
ParamGroups Split(const ParamGroups& groups,
                  const std::function<size_t(const NamedTensor&)>& choose,
                  const std::vector<std::map<std::string, double>>& overrides) {
  std::vector<ParamGroup> split;
  for (const ParamGroup& group : groups.groups()) {
    std::map<size_t, size_t> index;
    for (const NamedTensor& param : group.params) {
      const size_t number = choose(param);
      const auto [at, is_new] = index.try_emplace(number, split.size());
      if (is_new) {
        ParamGroup& added = split.emplace_back();
        added.overrides = group.overrides;
        for (const auto& [field, value] : overrides[number]) {
          added.overrides[field] = value;
        }
      }
      split[at->second].params.push_back(param);
    }
  }
  return split;
}

}  // namespace

bool MatchesGlob(std::string_view name, std::string_view pattern) {
  return fnmatch(std::string(pattern).c_str(), std::string(name).c_str(), 0) ==
         0;
}

ParamGroups NoDecayForBiasAndNorm(const ParamGroups& groups) {
  return Split(
      groups,
      [](const NamedTensor& param) { return param.tensor.dim() < 2 ? 1 : 0; },
      {{}, {{"weight_decay", 0}}});
}

ParamGroups OverrideByName(const ParamGroups& groups,
                           const std::vector<NameRule>& rules) {
  std::vector<std::map<std::string, double>> overrides;
  for (const NameRule& rule : rules) overrides.push_back(rule.overrides);
  overrides.emplace_back();  // what no rule matches
  std::vector<bool> used(overrides.size());
  ParamGroups split = Split(
      groups,
      [&](const NamedTensor& param) {
        size_t rule = 0;
        while (rule < rules.size() &&
               !MatchesGlob(param.name, rules[rule].pattern)) {
          ++rule;
        }
        used[rule] = true;
        return rule;
      },
      overrides);
  for (size_t rule = 0; rule < rules.size(); ++rule) {
    TORCH_CHECK_VALUE(used[rule], "param groups: the pattern \"",
                      rules[rule].pattern, "\" matches no parameter",
                      rule == 0 ? "" : " that no earlier pattern matches");
  }
  return split;
}

}  // namespace trainyard
