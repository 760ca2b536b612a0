// Writes the files of one checkpoint into a folder, each with its checksums,
// and hands back what its manifest says of them. Free of libtorch.
//
//   StepWriter writer("run/.tmp-step-7", save_uuid);
//   absl::StatusOr<pb::FileEntry> file =
//       writer.WriteTensors("model.safetensors", header, bytes_of);
//
// Thread-compatible; several writers may write to one folder.
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

// The key of a file's metadata under which it says which save it is of.
inline constexpr char kSaveUuidKey[] = "trainyard.save";

class StepWriter {
 public:
  // Where a tensor's bytes are; they stay there until the next call.
  using BytesOf =
      std::function<absl::StatusOr<const void*>(const SafetensorsEntry&)>;

  StepWriter(std::string folder, std::string save_uuid,
             FileSystem& files = RealFileSystem());

  const std::string& save_uuid() const { return save_uuid_; }

  // A safetensors file of the header's tensors, which need no places yet. On
  // the disk when it returns.
  absl::StatusOr<pb::FileEntry> WriteTensors(const std::string& name,
                                             SafetensorsHeader header,
                                             const BytesOf& bytes_of);

  absl::StatusOr<pb::FileEntry> WriteBytes(const std::string& name,
                                           pb::FileEntry::Kind kind,
                                           std::string_view bytes);

  // The last file: puts it and all names in the folder on the disk.
  absl::Status WriteManifest(const pb::Manifest& manifest);

 private:
  std::string folder_;
  std::string save_uuid_;
  FileSystem& files_;
};

// Bytes as lower-case hexadecimal digits.
std::string HexOf(std::string_view bytes);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_FORMAT_STEP_WRITER_H_
