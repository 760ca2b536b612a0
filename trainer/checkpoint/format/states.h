// The states of a run's parts, to and from the bytes of a file, from a stranger
// too. Tensors are kept elsewhere, by a name that this gives. Free of libtorch.
//
//   absl::StatusOr<std::string> file = FormatStates(parts, save_uuid);
//   absl::StatusOr<ParsedStates> read = ParseStates(*file);
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_FORMAT_STATES_H_
#define TRAINYARD_TRAINER_CHECKPOINT_FORMAT_STATES_H_

#include <absl/status/statusor.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/state.h"

namespace trainyard {

using PartStates = std::map<std::string, State>;

// A tensor that belongs into a part's state.
struct StateTensorName {
  std::string part;
  std::string value;

  // Under which it is kept: "<part>/<value>".
  std::string Path() const { return part + "/" + value; }
};

struct ParsedStates {
  std::string save_uuid;
  // Without their tensors.
  PartStates parts;
  std::vector<StateTensorName> tensors;
};

// In the order of parts and values. InvalidArgument if a name is not UTF-8, a
// part's name has a slash, or all of it is too long.
absl::StatusOr<std::string> FormatStates(const PartStates& parts,
                                         const std::string& save_uuid);

// DataLoss, with the reason, for anything that FormatStates does not write.
absl::StatusOr<ParsedStates> ParseStates(std::string_view file);

// Which values of the parts are tensors.
std::vector<StateTensorName> TensorsOf(const PartStates& parts);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_FORMAT_STATES_H_
