// The header of a safetensors file, read from a stranger: what is accepted is
// consistent. The file is the header's length (8 bytes, little-endian), the
// header (JSON), and the bytes of the tensors, one after the other, covering
// the rest of the file exactly. Free of libtorch.
//
//   absl::StatusOr<SafetensorsHeader> header = ReadSafetensorsHeader(file);
//   if (!header.ok()) return header.status();
//   for (const SafetensorsEntry& tensor : header->tensors) {
//     file.ReadAt(header->data_begin + tensor.begin, to, tensor.size());
//   }
//
// Accepts what Rust's reader accepts, but for the cases listed in README.md.
// Errors are DataLoss and say which tensor or byte is wrong. Thread-safe.
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

// The longest header that is read or written.
inline constexpr uint64_t kMaxSafetensorsHeader = 100'000'000;
// The most dimensions of a tensor.
inline constexpr size_t kMaxSafetensorsRank = 64;

// The key under which a header keeps what is not a tensor.
inline constexpr std::string_view kSafetensorsMetadata = "__metadata__";

absl::StatusOr<SafetensorsHeader> ReadSafetensorsHeader(const InputFile& file);

// The two steps of it. The header's length from the file's first bytes, which
// may be less than 8 if the file is shorter:
absl::StatusOr<uint64_t> SafetensorsHeaderLength(std::string_view first_bytes,
                                                 uint64_t file_size);
// The header from its JSON, if `data_size` bytes follow it:
absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(std::string_view json,
                                                         uint64_t data_size);

// What precedes the data in a file: length, JSON, spaces up to a multiple of 8.
// InvalidArgument if a name or a metadatum is not UTF-8, or if the header would
// be too long. REQUIRES: LayOutTensors.
absl::StatusOr<std::string> FormatSafetensorsHeader(
    const SafetensorsHeader& header);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_SAFETENSORS_SAFETENSORS_HEADER_H_
