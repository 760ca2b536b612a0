// ReadWeights reads named tensors from any kind of file that Trainyard reads:
// safetensors, its index of several files, or a .pt file of PyTorch.
//
//   absl::StatusOr<std::vector<NamedTensor>> weights =
//       ReadWeights("weights.pt", {.key = "model"});
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_PT_WEIGHTS_FILE_H_
#define TRAINYARD_TRAINER_CHECKPOINT_PT_WEIGHTS_FILE_H_

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "trainer/checkpoint/pt/pt_layout.h"
#include "trainer/model/named_tensor.h"

namespace trainyard {

// Returns the tensors in name order. The first bytes of the file tell its kind.
// `path` can also be a folder that contains model.safetensors or its index.
// Returns InvalidArgument if `options.key` is set and the file is no .pt file.
absl::StatusOr<std::vector<NamedTensor>> ReadWeights(
    const std::string& path, const PtOptions& options = {});

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_PT_WEIGHTS_FILE_H_
