// Named tensors to and from safetensors files, which Python's safetensors
// library reads and writes too. No code in a file is ever run.
//
//   absl::Status written =
//       WriteSafetensors("model.safetensors", {{"w", weight}});
//   absl::StatusOr<Safetensors> read = ReadSafetensors("model.safetensors");
//
// Bits are kept as they are. Thread-safe, as long as nobody writes to the
// tensors meanwhile.
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
  // On the host, contiguous, in name order.
  std::vector<NamedTensor> tensors;
  // What the writer had to say, e.g. {"format", "pt"}.
  std::map<std::string, std::string> metadata;
};

// DataLoss for a file that is damaged or none of this format: nothing of it is
// returned. Unimplemented for element types that libtorch lacks (F6_E2M3,
// F6_E3M2). Takes no more memory than the file has bytes, and a few times its
// header.
absl::StatusOr<Safetensors> ReadSafetensors(const std::string& path);

// Replaces the file at `path`, if there is one, once all is on the disk; see
// AtomicFile. Tensors may be on any device and have any strides; the file is in
// the order that Python's writer has. InvalidArgument, before anything is
// written, for a name that comes twice or is not UTF-8, or a tensor that is
// undefined, sparse, or of a type that the format lacks.
absl::Status WriteSafetensors(
    const std::string& path, const std::vector<NamedTensor>& tensors,
    const std::map<std::string, std::string>& metadata = {});

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_SAFETENSORS_SAFETENSORS_H_
