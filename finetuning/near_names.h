// NearNames finds the names that are most similar to a pattern, for error
// messages about a pattern that matches nothing.
//
//   NearNames("encodr.*", {"encoder.weight", "head.weight"}, 1);
//   // {"encoder.weight"}
//
// Does not depend on libtorch. Thread-safe.
#ifndef TRAINYARD_FINETUNING_NEAR_NAMES_H_
#define TRAINYARD_FINETUNING_NEAR_NAMES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

// Returns at most `most` names, by edit distance to the pattern; ties in the
// given order. '*' in the pattern matches any characters and '?' one character,
// both at no cost.
std::vector<std::string> NearNames(std::string_view pattern,
                                   const std::vector<std::string>& names,
                                   size_t most = 5);

// The same as text for a message: "a", "b", "c"; or "none".
std::string QuotedNearNames(std::string_view pattern,
                            const std::vector<std::string>& names);

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_NEAR_NAMES_H_
