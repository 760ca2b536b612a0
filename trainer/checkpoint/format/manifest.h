// The manifest of a checkpoint, read from a stranger: what is accepted is
// consistent in itself. Free of libtorch.
//
//   absl::StatusOr<pb::Manifest> manifest = ParseManifest(bytes);
//   if (!manifest.ok()) return manifest.status();  // DataLoss, or newer: …
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_FORMAT_MANIFEST_H_
#define TRAINYARD_TRAINER_CHECKPOINT_FORMAT_MANIFEST_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "trainer/checkpoint/format/manifest.pb.h"

namespace trainyard {

inline constexpr char kManifestName[] = "manifest.pb";
// What this program writes, and the newest that it reads.
inline constexpr uint32_t kCheckpointFormat = 1;

inline constexpr int kMaxCheckpointFiles = 100'000;
inline constexpr int kMaxCheckpointTensors = 1'000'000;
inline constexpr size_t kMaxTensorName = 4096;

// Bytes of a manifest's file. InvalidArgument if it would not be accepted.
absl::StatusOr<std::string> FormatManifest(const pb::Manifest& manifest);

// DataLoss for one that is damaged or contradicts itself; FailedPrecondition
// for one of a newer format.
absl::StatusOr<pb::Manifest> ParseManifest(std::string_view file);

// Whether a file may have the name: [A-Za-z0-9_][A-Za-z0-9._-]*, at most 255
// bytes. Such a name leads out of no folder.
bool IsFileName(std::string_view name);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_FORMAT_MANIFEST_H_
