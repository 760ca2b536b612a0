// WeightsFolder keeps the weights of some updates of a run, each in a
// safetensors file of its own that Python reads too:
//
//   step-1200.safetensors     with a checksum of its tensors in its metadata
//   best.safetensors          a link to one of them
//
//   WeightsFolder folder("runs/first/best");
//   absl::Status written = folder.Write(1200, weights, {{"epoch", "3"}});
//   absl::StatusOr<std::vector<NamedTensor>> read = folder.Read(1200);
//
// A file is there as a whole or not at all, whenever the process is killed.
//
// Thread-compatible. One process writes; the folder is its own.
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

  // Makes the folder if need be. `about` goes into the file's metadata.
  absl::Status Write(int64_t step, const std::vector<NamedTensor>& weights,
                     std::map<std::string, std::string> about) const;

  // DataLoss if the file is damaged: its checksum is compared.
  absl::StatusOr<std::vector<NamedTensor>> Read(int64_t step) const;

  // Lets best.safetensors be this step's.
  absl::Status Point(int64_t step) const;

  // Removes all steps but these, and what a killed process left behind. What
  // cannot be removed stays.
  void Retain(const std::set<int64_t>& steps) const;

  // Renames what an earlier run left to "old-…", in place of what an earlier
  // one has there.
  absl::Status MoveAside() const;

 private:
  std::string directory_;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_WEIGHTS_WEIGHTS_FOLDER_H_
