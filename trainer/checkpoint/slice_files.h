// Slices in a checkpoint: the entries that describe them in the manifest, and
// whole tensors again when they are read.
//
//   DescribeSlices(checkpoint.slices.at("optimizer"), file);
//   …
//   SliceJoin join("optimizer");
//   join.Add(slice);  // of every rank
//   const absl::Status joined = join.Finish(tensors);
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_SLICE_FILES_H_
#define TRAINYARD_TRAINER_CHECKPOINT_SLICE_FILES_H_

#include <absl/status/status.h>

#include <map>
#include <string>
#include <vector>

#include "trainer/checkpoint/format/manifest.pb.h"
#include "trainer/model/named_tensor.h"
#include "trainer/model/tensor_slice.h"

namespace trainyard {

// The name of the file of a rank's slices, e.g.
// "optimizer-slices-r00001.safetensors".
std::string SliceFileName(const std::string& group, int rank);

// Returns the slices that a rank writes, as tensors: all but empty ones. Of an
// empty tensor the slice of the first rank is written.
std::vector<NamedTensor> WrittenSlices(const std::vector<TensorSlice>& slices);

// Sets the slice of every entry of the file. REQUIRES: the file was written
// from these slices.
void DescribeSlices(const std::vector<TensorSlice>& slices,
                    pb::FileEntry& file);

// Joins the slices of one group.
class SliceJoin {
 public:
  explicit SliceJoin(std::string group) : group_(std::move(group)) {}

  void Add(TensorSlice slice) {
    slices_[slice.name].push_back(std::move(slice));
  }

  // Appends the whole tensors. Returns DataLoss, naming the tensor, unless its
  // slices agree on shape and type and have each element once.
  absl::Status Finish(std::vector<NamedTensor>& tensors);

 private:
  std::string group_;
  std::map<std::string, std::vector<TensorSlice>> slices_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_SLICE_FILES_H_
