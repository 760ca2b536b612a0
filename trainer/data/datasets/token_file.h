// A binary file of token numbers, one after the other, as language models are
// trained on: sample i is the window of `length` tokens that starts at token
// i * stride, as input, and the window one further on, as target. The file is
// mapped, and may be larger than memory.
//
//   const DatasetPtr data =
//       OpenTokenFile("train.bin", {.type = at::kUInt16, .length = 1024})
//           .value();
//   // int64, N x L
//   const Example& batch = data->Gather(indices).As<Example>();
//
// WriteTokenFile makes such a file; TextTokens gives the bytes of a text as
// tokens.
//
// Thread-safe. The file must not change while it is open.
#ifndef TRAINYARD_TRAINER_DATA_DATASETS_TOKEN_FILE_H_
#define TRAINYARD_TRAINER_DATA_DATASETS_TOKEN_FILE_H_

#include <ATen/core/Tensor.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <string>

#include "trainer/data/dataset.h"

namespace trainyard {

struct TokenFileOptions {
  // Of a token in the file. REQUIRES: kByte, kUInt16, kInt or kLong.
  at::ScalarType type = at::kUInt16;
  // Tokens of a sample. REQUIRES: >= 1.
  int64_t length = 1024;
  // From one sample's first token to the next one's; 0: `length`, so that each
  // token is predicted once. REQUIRES: >= 0.
  int64_t stride = 0;
};

// The error names the file: not there (NotFound); cut short within a token, or
// too short for one sample (DataLoss).
absl::StatusOr<DatasetPtr> OpenTokenFile(const std::string& path,
                                         const TokenFileOptions& options);

// Writes tokens of the given type. OutOfRange if one does not fit into it.
absl::Status WriteTokenFile(const std::string& path, const at::Tensor& tokens,
                            at::ScalarType type);

// The bytes of a plain or gzip text file, 0 … 255, as int64.
absl::StatusOr<at::Tensor> TextTokens(const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_DATASETS_TOKEN_FILE_H_
