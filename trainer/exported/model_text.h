// ModelText is what a model file of export_model.py says beside its weights:
// the model's tensors by name, and its two graphs. It is in the metadata of a
// safetensors file. Free of libtorch.
//
//   const absl::StatusOr<ModelText> text = ParseModelText(header.metadata);
//   if (!text.ok()) return text.status();  // "training graph: byte 17: …"
//
// Errors are DataLoss, or Unimplemented for a file of a later version.
// Thread-safe.
#ifndef TRAINYARD_TRAINER_EXPORTED_MODEL_TEXT_H_
#define TRAINYARD_TRAINER_EXPORTED_MODEL_TEXT_H_

#include <absl/status/statusor.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/exported/graph.h"

namespace trainyard {

// Names are Python's. Each tensor is named once, other names of it are `tied`.
struct StateNames {
  struct Parameter {
    std::string name;
    bool trained = true;  // requires_grad
  };
  struct Buffer {
    std::string name;
    bool saved = true;  // is in Python's state_dict
  };
  struct Tied {
    std::string name;
    std::string to;
  };
  std::vector<Parameter> parameters;
  std::vector<Buffer> buffers;
  std::vector<std::string> constants;
  std::vector<Tied> tied;
};

struct ModelText {
  StateNames state;
  Graph train;
  Graph eval;
};

absl::StatusOr<ModelText> ParseModelText(
    const std::map<std::string, std::string>& metadata);

// The part of it that lists tensors. No name comes twice, and ties lead to
// parameters and buffers.
absl::StatusOr<StateNames> ParseStateNames(std::string_view json);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_EXPORTED_MODEL_TEXT_H_
