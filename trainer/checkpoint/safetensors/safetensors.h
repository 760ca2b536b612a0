// Reads and writes named tensors as safetensors files, which are compatible
// with Python's safetensors library. Reading a file never executes code from
// it.
//
//   absl::Status written =
//       WriteSafetensors("model.safetensors", {{"w", weight}});
//   absl::StatusOr<Safetensors> read = ReadSafetensors("model.safetensors");
//
// Values are kept bit for bit. Thread-safe while nobody writes to the tensors.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_SAFETENSORS_SAFETENSORS_H_
#define TRAINYARD_TRAINER_CHECKPOINT_SAFETENSORS_SAFETENSORS_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <map>
#include <string>
#include <vector>

#include "trainer/model/named_tensor.h"

namespace trainyard {

struct Safetensors {
  // On the CPU, contiguous, in name order.
  std::vector<NamedTensor> tensors;
  // E.g. {"format", "pt"}.
  std::map<std::string, std::string> metadata;
};

// Returns DataLoss for a file that is damaged or in another format, and
// Unimplemented for element types that libtorch lacks (F6_E2M3, F6_E3M2). Needs
// memory for the bytes of the file and a few times its header.
absl::StatusOr<Safetensors> ReadSafetensors(const std::string& path);

// Writes the file atomically (see AtomicFile), replacing an existing one.
// Tensors may be on any device and have any strides; the file has the order of
// Python's writer. Returns InvalidArgument, before anything is written, for a
// duplicate name, a name that is not UTF-8, or a tensor that is undefined,
// sparse, or of a type that the format lacks.
absl::Status WriteSafetensors(
    const std::string& path, const std::vector<NamedTensor>& tensors,
    const std::map<std::string, std::string>& metadata = {});

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_SAFETENSORS_SAFETENSORS_H_
