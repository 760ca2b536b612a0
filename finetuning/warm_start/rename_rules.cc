#include "finetuning/warm_start/rename_rules.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <fnmatch.h>

#include <map>
#include <optional>
#include <regex>

namespace trainyard {
namespace {

std::optional<std::regex> Compiled(const std::string& pattern) {
  try {
    return std::regex(pattern);
  } catch (const std::regex_error&) {
    return std::nullopt;
  }
}

absl::Status Refused(size_t index, const RenameRule& rule,
                     std::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("rename rule ", index + 1, ", \"", rule.pattern,
                   "\": ", absl::string_view(why.data(), why.size())));
}

// Applies a rule to all names. Returns whether it matched any.
bool Apply(const std::regex& pattern, const std::string& replacement,
           std::vector<std::string>& names) {
  bool matched = false;
  for (std::string& name : names) {
    if (!std::regex_search(name, pattern)) continue;
    matched = true;
    name = std::regex_replace(name, pattern, replacement);
  }
  return matched;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> Renamed(
    const std::vector<std::string>& names,
    const std::vector<RenameRule>& rules) {
  std::vector<std::string> renamed = names;
  for (size_t i = 0; i < rules.size(); ++i) {
    const std::optional<std::regex> pattern = Compiled(rules[i].pattern);
    if (!pattern) return Refused(i, rules[i], "not a regular expression");
    if (!Apply(*pattern, rules[i].replacement, renamed)) {
      return Refused(i, rules[i],
                     names.empty()
                         ? std::string("matches nothing: there are no tensors")
                         : absl::StrCat("matches none of the ", names.size(),
                                        " names, the first of which is \"",
                                        renamed.front(), "\""));
    }
  }
  std::map<std::string, size_t> first;
  for (size_t i = 0; i < renamed.size(); ++i) {
    const auto [other, is_new] = first.emplace(renamed[i], i);
    if (is_new) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the rename rules map to \"", renamed[i], "\" both \"",
                     names[other->second], "\" and \"", names[i], "\""));
  }
  return renamed;
}

bool NamesTensor(const std::string& glob, const std::string& name) {
  for (size_t end = name.find('.'); end != std::string::npos;
       end = name.find('.', end + 1)) {
    const std::string module = name.substr(0, end);
    if (fnmatch(glob.c_str(), module.c_str(), 0) == 0) return true;
  }
  return fnmatch(glob.c_str(), name.c_str(), 0) == 0;
}

}  // namespace trainyard
