// Parses and formats the manifest of a checkpoint. The input may come from
// anybody: a manifest that is accepted is consistent. Free of libtorch.
//
//   absl::StatusOr<pb::Manifest> manifest = ParseManifest(bytes);
//   if (!manifest.ok()) return manifest.status();
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
// The format that this program writes, and the one that it writes if there are
// slices: the newest that it reads.
inline constexpr uint32_t kCheckpointFormat = 1;
inline constexpr uint32_t kSlicedFormat = 2;

inline constexpr int kMaxCheckpointFiles = 100'000;
inline constexpr int kMaxCheckpointTensors = 1'000'000;
inline constexpr size_t kMaxTensorName = 4096;

// Returns the bytes of the file. Returns InvalidArgument for a manifest that
// ParseManifest would reject.
absl::StatusOr<std::string> FormatManifest(const pb::Manifest& manifest);

// Returns DataLoss for a manifest that is damaged or inconsistent and
// FailedPrecondition for one in a newer format.
absl::StatusOr<pb::Manifest> ParseManifest(std::string_view file);

// Whether a file of a checkpoint may have this name:
// [A-Za-z0-9_][A-Za-z0-9._-]*, at most 255 bytes. Such a name cannot refer to
// another folder.
bool IsFileName(std::string_view name);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_FORMAT_MANIFEST_H_
