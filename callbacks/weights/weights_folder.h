// WeightsFolder stores the weights of several updates of a run, each in its own
// safetensors file, which Python can read:
//
//   step-1200.safetensors     with a checksum of its tensors in its metadata
//   best.safetensors          a link to one of them
//
//   WeightsFolder folder("runs/first/best");
//   absl::Status written = folder.Write(1200, weights, {{"epoch", "3"}});
//   absl::StatusOr<std::vector<NamedTensor>> read = folder.Read(1200);
//
// Files are written atomically, also if the process is killed.
//
// Thread-compatible. Only one process may use the folder.
#ifndef TRAINYARD_CALLBACKS_WEIGHTS_WEIGHTS_FOLDER_H_
#define TRAINYARD_CALLBACKS_WEIGHTS_WEIGHTS_FOLDER_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "trainer/model/named_tensor.h"

namespace trainyard {

class WeightsFolder {
 public:
  explicit WeightsFolder(std::string directory)
      : directory_(std::move(directory)) {}

  std::string PathOf(int64_t step) const;
  bool Has(int64_t step) const;

  // Creates the folder. `about` is stored in the file's metadata.
  absl::Status Write(int64_t step, const std::vector<NamedTensor>& weights,
                     std::map<std::string, std::string> about) const;

  // Verifies the checksum: DataLoss if the file is damaged.
  absl::StatusOr<std::vector<NamedTensor>> Read(int64_t step) const;

  // Links best.safetensors to this step.
  absl::Status Point(int64_t step) const;

  // Removes all other steps, and incomplete files of a killed process. Ignores
  // errors.
  void Retain(const std::set<int64_t>& steps) const;

  // Renames the files of an earlier run to "old-…", replacing existing ones.
  absl::Status MoveAside() const;

 private:
  std::string directory_;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_WEIGHTS_WEIGHTS_FOLDER_H_
