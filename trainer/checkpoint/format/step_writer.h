// StepWriter writes the files of one checkpoint into a folder and returns their
// manifest entries, with checksums. Free of libtorch.
//
//   StepWriter writer("run/.tmp-step-7", save_uuid);
//   absl::StatusOr<pb::FileEntry> file =
//       writer.WriteTensors("model.safetensors", header, bytes_of);
//
// Thread-compatible. Several writers may write to one folder.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_FORMAT_STEP_WRITER_H_
#define TRAINYARD_TRAINER_CHECKPOINT_FORMAT_STEP_WRITER_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <functional>
#include <string>
#include <string_view>

#include "trainer/checkpoint/format/manifest.pb.h"
#include "trainer/checkpoint/safetensors/safetensors_layout.h"
#include "trainer/io/file_system.h"

namespace trainyard {

// The metadata key under which a file of tensors has the uuid of its save.
inline constexpr char kSaveUuidKey[] = "trainyard.save";

class StepWriter {
 public:
  // Returns the bytes of a tensor, which must stay valid until the next call.
  using BytesOf =
      std::function<absl::StatusOr<const void*>(const SafetensorsEntry&)>;

  StepWriter(std::string folder, std::string save_uuid,
             FileSystem& files = RealFileSystem());

  const std::string& save_uuid() const { return save_uuid_; }

  // Writes a safetensors file with the tensors of the header; computes their
  // offsets. Durable if OK is returned, as all methods.
  absl::StatusOr<pb::FileEntry> WriteTensors(const std::string& name,
                                             SafetensorsHeader header,
                                             const BytesOf& bytes_of);

  absl::StatusOr<pb::FileEntry> WriteBytes(const std::string& name,
                                           pb::FileEntry::Kind kind,
                                           std::string_view bytes);

  // Writes the manifest and syncs the folder. The last call.
  absl::Status WriteManifest(const pb::Manifest& manifest);

 private:
  std::string folder_;
  std::string save_uuid_;
  FileSystem& files_;
};

// Returns the bytes as lower-case hexadecimal digits.
std::string HexOf(std::string_view bytes);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_FORMAT_STEP_WRITER_H_
