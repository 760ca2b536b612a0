// StepReader reads the folder of a committed checkpoint. It checks names,
// sizes, headers against the manifest, and every byte against its checksum.
// Free of libtorch.
//
//   absl::StatusOr<StepReader> step = StepReader::Open("run/step-0000000007");
//   if (!step.ok()) return step.status();
//   for (const pb::FileEntry& file : step->manifest().files()) {
//     absl::Status intact = step->Verify(file);
//   }
//
// A folder with any files whatsoever gives a result or an error that names the
// file, in memory bounded by the size of the files. Thread-safe once open.
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
  // Returns the memory for the bytes of a tensor, or null to only check them.
  using RoomFor = std::function<absl::StatusOr<void*>(const SafetensorsEntry&)>;

  // Reads the manifest and checks the sizes of the files. Returns NotFound if
  // the folder has no manifest, DataLoss if it is damaged.
  static absl::StatusOr<StepReader> Open(const std::string& folder,
                                         FileSystem& files = RealFileSystem());

  const std::string& folder() const { return folder_; }
  const pb::Manifest& manifest() const { return manifest_; }

  // Reads the tensors of a file. REQUIRES: a file of the manifest, of kind
  // TENSORS.
  absl::Status ReadTensors(const pb::FileEntry& file,
                           const RoomFor& room_for) const;

  // Returns the content of a file of another kind. Returns DataLoss if it has
  // more than kMaxFrame bytes.
  absl::StatusOr<std::string> ReadBytes(const pb::FileEntry& file) const;

  // Checks every byte of a file of any kind.
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
