// Rename rules map the names of tensors in a file to those of a model.
//
//   Renamed({"model.encoder.0.weight", "model.head.weight"},
//           {{.pattern = R"(^model\.)", .replacement = ""},
//            {.pattern = R"(encoder\.(\d+))", .replacement = "layer$1"}});
//   // {"layer0.weight", "head.weight"}
//
// Does not depend on libtorch. Thread-safe.
#ifndef TRAINYARD_FINETUNING_WARM_START_RENAME_RULES_H_
#define TRAINYARD_FINETUNING_WARM_START_RENAME_RULES_H_

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

struct RenameRule {
  // A regular expression (ECMAScript) that is searched for in the name. ^ and $
  // match the ends of the name; write a literal dot as \. .
  std::string pattern;
  // Replaces every match; $1 is the first capture group.
  std::string replacement;
};

// Applies the rules one after the other and returns the new names. Returns
// InvalidArgument if a pattern is not a regular expression or matches no name,
// or if two names become equal.
absl::StatusOr<std::vector<std::string>> Renamed(
    const std::vector<std::string>& names,
    const std::vector<RenameRule>& rules);

// Whether a glob ('*' matches any characters, '?' one character) matches the
// name of a tensor or of a module that contains it: "head" and "h*d" match
// "head.weight".
bool NamesTensor(const std::string& glob, const std::string& name);

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_WARM_START_RENAME_RULES_H_
