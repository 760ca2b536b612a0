// Reads IDX files, the format of the MNIST family: a big-endian magic number,
// the sizes, then the values. Detects gzip by content.
//
//   // uint8, N x 28 x 28
//   const at::Tensor images =
//       ReadIdxFile("train-images-idx3-ubyte.gz").value();
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_DATA_IDX_FILES_H_
#define TRAINYARD_TRAINER_DATA_IDX_FILES_H_

#include <ATen/core/Tensor.h>
#include <absl/status/statusor.h>

#include <string>

namespace trainyard {

// Returns the file as a CPU tensor of its type and shape. The error names the
// file: NotFound if it does not exist, DataLoss if it is damaged, truncated or
// too long, InvalidArgument if it has another format.
absl::StatusOr<at::Tensor> ReadIdxFile(const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_IDX_FILES_H_
