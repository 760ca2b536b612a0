// A frame holds one message in a file: its kind, its length, the message, and a
// checksum of all of it. Free of libtorch.
//
//   const std::string file = Framed(kManifestMagic, message);
//   absl::StatusOr<std::string_view> read = Unframed(kManifestMagic, file);
//
//   8 bytes   magic
//   4 bytes   n, little-endian
//   n bytes   message
//   4 bytes   CRC32C of all bytes before, masked, little-endian
//
// Masked means rotated by 15 bits, plus a constant: a checksum over bytes that
// contain checksums would be weak otherwise. Thread-safe.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_FORMAT_FRAME_H_
#define TRAINYARD_TRAINER_CHECKPOINT_FORMAT_FRAME_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard {

inline constexpr std::string_view kManifestMagic = "TYCKPT1\n";
inline constexpr std::string_view kStatesMagic = "TYSTAT1\n";
// The maximum size of a frame.
inline constexpr uint64_t kMaxFrame = uint64_t{64} << 20;

// REQUIRES: a magic of 8 bytes, at most kMaxFrame bytes in all.
std::string Framed(std::string_view magic, std::string_view message);

// Returns the message, which is a part of `file`. Returns DataLoss, with the
// reason, unless `file` is a complete frame of this kind.
absl::StatusOr<std::string_view> Unframed(std::string_view magic,
                                          std::string_view file);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_FORMAT_FRAME_H_
