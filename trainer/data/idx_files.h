// Reads IDX files, the format of the MNIST family: big-endian, a magic number,
// the sizes, then the values. Plain files and gzip files are told apart by
// their content.
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

// The file as a CPU tensor of its own type and shape. The error says what is
// wrong with which file: not there (NotFound), damaged, cut short or too long
// (DataLoss), of another format (InvalidArgument).
absl::StatusOr<at::Tensor> ReadIdxFile(const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_IDX_FILES_H_
