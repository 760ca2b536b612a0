// Copies saved tensors into the tensors of a model or an optimizer, by name and
// never by position. Missing, unexpected and different tensors are all reported
// together, before anything is changed.
//
//   const absl::Status loaded = LoadTensors(saved, model->Parameters());
//   if (!loaded.ok()) return loaded;  // lists every difference
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_MODEL_TENSOR_MATCH_H_
#define TRAINYARD_TRAINER_MODEL_TENSOR_MATCH_H_

#include <ATen/core/Tensor.h>
#include <absl/status/status.h>

#include <string>
#include <vector>

#include "trainer/model/named_tensor.h"

namespace trainyard {

// Whether a saved tensor must have the type of the tensor that it is copied to,
// or is converted. Shapes must be the same in either case.
enum class TensorTypes { kSame, kConvert };

// Each list is in name order.
struct TensorDifferences {
  // Names that are wanted and were not saved.
  std::vector<std::string> missing = {};
  // Names that were saved and are not wanted.
  std::vector<std::string> unexpected = {};
  // Tensors of another shape or type: "layer.weight: saved as Float [2, 3],
  // wanted as Float [2, 4]".
  std::vector<std::string> different = {};

  bool none() const {
    return missing.empty() && unexpected.empty() && different.empty();
  }
};

TensorDifferences CompareTensors(const std::vector<NamedTensor>& saved,
                                 const std::vector<NamedTensor>& wanted,
                                 TensorTypes types = TensorTypes::kSame);

// Formats the differences for people: a line each, at most twenty of each kind.
std::string Describe(const TensorDifferences& differences);

// Appends a list to `text` in the same form: a line with its length and title,
// then at most twenty of its lines. Appends nothing if there are no lines.
void AppendLines(const std::string& title,
                 const std::vector<std::string>& lines, std::string& text);

// Returns type and shape, e.g. "Float [2, 3]".
std::string KindOf(const at::Tensor& tensor);

// Copies every saved tensor into the wanted tensor of the same name. Returns
// InvalidArgument, listing all differences, if there are any; then nothing has
// changed.
absl::Status LoadTensors(const std::vector<NamedTensor>& saved,
                         const std::vector<NamedTensor>& wanted,
                         TensorTypes types = TensorTypes::kSame);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_MODEL_TENSOR_MATCH_H_
