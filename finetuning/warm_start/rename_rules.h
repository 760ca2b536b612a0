// Rules that turn the names of tensors in a file into those of a model.
//
//   Renamed({"model.encoder.0.weight", "model.head.weight"},
//           {{.pattern = R"(^model\.)", .replacement = ""},
//            {.pattern = R"(encoder\.(\d+))", .replacement = "layer$1"}});
//   // {"layer0.weight", "head.weight"}
//
// Free of libtorch. Thread-safe.
#ifndef TRAINYARD_FINETUNING_WARM_START_RENAME_RULES_H_
#define TRAINYARD_FINETUNING_WARM_START_RENAME_RULES_H_

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

struct RenameRule {
  // A regular expression (ECMAScript), searched for in the name: ^ and $ tie it
  // to the ends, and a full stop is written \. .
  std::string pattern;
  // What every match becomes; $1 is what the first parentheses matched.
  std::string replacement;
};

// The names after all rules, each applied to what the one before it left.
// InvalidArgument for a pattern that is no regular expression or matches no
// name, and for two names that become one.
absl::StatusOr<std::vector<std::string>> Renamed(
    const std::vector<std::string>& names,
    const std::vector<RenameRule>& rules);

// Whether a glob ('*' is any run of characters, '?' any one) is that of the
// name, or of a module that the name is in: "head" and "h*d" are those of
// "head.weight".
bool NamesTensor(const std::string& glob, const std::string& name);

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_WARM_START_RENAME_RULES_H_
