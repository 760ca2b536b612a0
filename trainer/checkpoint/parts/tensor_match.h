// Saved tensors into a model's, by name and never by position: what is missing,
// unexpected or different is told, all at once, before anything is changed.
//
//   absl::Status loaded = LoadTensors(checkpoint.tensors["model"],
//                                     NamedParameters(*model));
//   absl::StatusOr<TensorDifferences> rest =
//       LoadMatchingTensors(saved, wanted);
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_PARTS_TENSOR_MATCH_H_
#define TRAINYARD_TRAINER_CHECKPOINT_PARTS_TENSOR_MATCH_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "trainer/model/named_tensor.h"

namespace trainyard {

struct TensorDifferences {
  // Wanted, and not saved.
  std::vector<std::string> missing = {};
  // Saved, and not wanted.
  std::vector<std::string> unexpected = {};
  // Of another shape or type: "layer.weight: saved as Float [2, 3], wanted as
  // Float [2, 4]".
  std::vector<std::string> different = {};

  bool none() const {
    return missing.empty() && unexpected.empty() && different.empty();
  }
};

TensorDifferences CompareTensors(const std::vector<NamedTensor>& saved,
                                 const std::vector<NamedTensor>& wanted);

// What to show: one line for each, at most twenty of each kind.
std::string Describe(const TensorDifferences& differences);

// For other such lists: unless there are no lines, adds how many there are,
// what they are, and the first twenty.
void AppendLines(const std::string& title,
                 const std::vector<std::string>& lines, std::string& text);

// Type and shape: "Float [2, 3]".
std::string KindOf(const at::Tensor& tensor);

// Copies every saved tensor into the wanted one of its name. InvalidArgument,
// with all differences, if there are any: then nothing is changed.
absl::Status LoadTensors(const std::vector<NamedTensor>& saved,
                         const std::vector<NamedTensor>& wanted);

// Copies those that match and returns the differences. InvalidArgument if none
// matches: then something else was meant.
absl::StatusOr<TensorDifferences> LoadMatchingTensors(
    const std::vector<NamedTensor>& saved,
    const std::vector<NamedTensor>& wanted);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_PARTS_TENSOR_MATCH_H_
