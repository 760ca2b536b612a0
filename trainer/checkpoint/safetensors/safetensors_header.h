// Reads and writes the header of a safetensors file. The input may come from
// anybody: a header that is accepted is consistent. A file consists of the
// length of the header (8 bytes, little-endian), the header (JSON), and the
// bytes of the tensors without gaps. Free of libtorch.
//
//   absl::StatusOr<SafetensorsHeader> header = ReadSafetensorsHeader(file);
//   if (!header.ok()) return header.status();
//   for (const SafetensorsEntry& tensor : header->tensors) {
//     …  // its bytes begin at header->data_begin + tensor.begin
//   }
//
// Accepts what Rust's reader accepts, except for the cases in README.md. Errors
// are DataLoss and name the tensor or the byte. Thread-safe.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_SAFETENSORS_SAFETENSORS_HEADER_H_
#define TRAINYARD_TRAINER_CHECKPOINT_SAFETENSORS_SAFETENSORS_HEADER_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "trainer/checkpoint/safetensors/safetensors_layout.h"
#include "trainer/io/input_file.h"

namespace trainyard {

// The maximum length of a header.
inline constexpr uint64_t kMaxSafetensorsHeader = 100'000'000;
// The maximum number of dimensions of a tensor.
inline constexpr size_t kMaxSafetensorsRank = 64;

// The key of a header's entry that is not a tensor.
inline constexpr std::string_view kSafetensorsMetadata = "__metadata__";

absl::StatusOr<SafetensorsHeader> ReadSafetensorsHeader(const InputFile& file);

// Returns the length of the header. `first_bytes` are the first 8 bytes of the
// file, or less if the file is shorter.
absl::StatusOr<uint64_t> SafetensorsHeaderLength(std::string_view first_bytes,
                                                 uint64_t file_size);
// Parses the JSON of a header that is followed by `data_size` bytes.
absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(std::string_view json,
                                                         uint64_t data_size);

// Returns the bytes before the tensors: the length, the JSON, and spaces up to
// a multiple of 8. Returns InvalidArgument if a name or a metadata entry is not
// UTF-8, or if the header is too long. REQUIRES: LayOutTensors was called.
absl::StatusOr<std::string> FormatSafetensorsHeader(
    const SafetensorsHeader& header);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_SAFETENSORS_SAFETENSORS_HEADER_H_
