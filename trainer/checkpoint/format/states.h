// Formats and parses the states of a run's parts. The input may come from
// anybody. Tensors are stored elsewhere, under a name that StateTensorName
// gives. Free of libtorch.
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

// The name of a tensor among the values of a part.
struct StateTensorName {
  std::string part;
  std::string value;

  // The name in the file of tensors: "<part>/<value>".
  std::string Path() const { return part + "/" + value; }
};

struct ParsedStates {
  std::string save_uuid;
  // Without tensors.
  PartStates parts;
  std::vector<StateTensorName> tensors;
};

// Returns the bytes of the file, with parts and values in name order. Returns
// InvalidArgument if a name is not UTF-8, if the name of a part contains a
// slash, or if the file would be too long.
absl::StatusOr<std::string> FormatStates(const PartStates& parts,
                                         const std::string& save_uuid);

// Returns DataLoss, with the reason, for anything that FormatStates would not
// write.
absl::StatusOr<ParsedStates> ParseStates(std::string_view file);

// Returns the names of the values that are tensors.
std::vector<StateTensorName> TensorsOf(const PartStates& parts);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_FORMAT_STATES_H_
