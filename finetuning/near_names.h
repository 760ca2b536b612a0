// The names that a pattern nearly matches, for errors about one that matches
// none.
//
//   NearNames("encodr.*", {"encoder.weight", "head.weight"}, 1);
//   // {"encoder.weight"}
//
// Free of libtorch. Thread-safe.
#ifndef TRAINYARD_FINETUNING_NEAR_NAMES_H_
#define TRAINYARD_FINETUNING_NEAR_NAMES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

// At most `most` of the names, nearest first; equally near ones in the order
// given. Near is what few changes of single characters make a match; '*' in the
// pattern is any run of characters, '?' any one.
std::vector<std::string> NearNames(std::string_view pattern,
                                   const std::vector<std::string>& names,
                                   size_t most = 5);

// The same for the end of a message: "a", "b", "c". "none" if there are none.
std::string QuotedNearNames(std::string_view pattern,
                            const std::vector<std::string>& names);

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_NEAR_NAMES_H_
