// OpenTokenFile maps a binary file of token numbers, the training data of
// language models. Sample i has the window of `length` tokens that starts at
// token i * stride as input, and the window one token later as target. The file
// may be larger than memory.
//
//   const DatasetPtr data =
//       OpenTokenFile("train.bin", {.type = at::kUInt16, .length = 1024})
//           .value();
//   const AnyBatch batch = data->Gather(indices);
//   const at::Tensor input = batch.As<Example>().input;  // int64, N x 1024
//
// WriteTokenFile writes such a file; TextTokens reads the bytes of a text as
// tokens.
//
// Thread-safe. The file must not change while it is open.
#ifndef TRAINYARD_TRAINER_DATA_DATASETS_TOKEN_FILE_H_
#define TRAINYARD_TRAINER_DATA_DATASETS_TOKEN_FILE_H_

#include <ATen/core/Tensor.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>

#include "trainer/data/dataset.h"

namespace trainyard {

struct TokenFileOptions {
  // Type of a token in the file. REQUIRES: kByte, kUInt16, kInt or kLong.
  at::ScalarType type = at::kUInt16;
  // Tokens per sample. REQUIRES: >= 1.
  int64_t length = 1024;
  // Tokens from the start of one sample to the start of the next. Unset:
  // `length`, so that each token is predicted once. REQUIRES: >= 1.
  std::optional<int64_t> stride = std::nullopt;
};

// The error names the file: NotFound if it does not exist, DataLoss if it ends
// within a token or is too short for one sample.
absl::StatusOr<DatasetPtr> OpenTokenFile(const std::string& path,
                                         const TokenFileOptions& options);

// Writes tokens as the given type. OutOfRange if a token does not fit.
absl::Status WriteTokenFile(const std::string& path, const at::Tensor& tokens,
                            at::ScalarType type);

// The bytes of a plain or gzip text file, 0 … 255, as int64.
absl::StatusOr<at::Tensor> TextTokens(const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_DATASETS_TOKEN_FILE_H_
