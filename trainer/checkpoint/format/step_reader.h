// Reads a committed checkpoint's folder, checking all that can be checked:
// names, sizes, headers against the manifest, and every byte against its
// checksum as it is read. Free of libtorch.
//
//   absl::StatusOr<StepReader> step = StepReader::Open("run/step-0000000007");
//   if (!step.ok()) return step.status();
//   for (const pb::FileEntry& file : step->manifest().files()) {
//     absl::Status sound = step->Verify(file);
//   }
//
// Any folder of any files gives a result or an error that names the file, and
// takes no more memory than the files have bytes. Thread-safe once open.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_FORMAT_STEP_READER_H_
#define TRAINYARD_TRAINER_CHECKPOINT_FORMAT_STEP_READER_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <functional>
#include <string>

#include "trainer/checkpoint/format/manifest.pb.h"
#include "trainer/checkpoint/safetensors/safetensors_layout.h"
#include "trainer/io/file_system.h"

namespace trainyard {

class StepReader {
 public:
  // Where a tensor's bytes shall go; nullptr if they are only to be checked.
  using RoomFor = std::function<absl::StatusOr<void*>(const SafetensorsEntry&)>;

  // Reads the manifest and looks at the sizes of the files. NotFound if the
  // folder has no manifest.
  static absl::StatusOr<StepReader> Open(const std::string& folder,
                                         FileSystem& files = RealFileSystem());

  const std::string& folder() const { return folder_; }
  const pb::Manifest& manifest() const { return manifest_; }

  // REQUIRES: the manifest's, of kind TENSORS.
  absl::Status ReadTensors(const pb::FileEntry& file,
                           const RoomFor& room_for) const;

  // The whole of a file of any other kind, at most kMaxFrame bytes.
  absl::StatusOr<std::string> ReadBytes(const pb::FileEntry& file) const;

  // Reads a file of any kind to its end.
  absl::Status Verify(const pb::FileEntry& file) const;
  absl::Status VerifyAll() const;

 private:
  StepReader(std::string folder, FileSystem& files);

  std::string folder_;
  FileSystem* files_;
  pb::Manifest manifest_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_FORMAT_STEP_READER_H_
