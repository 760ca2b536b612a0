// Snapshot is a copy of a checkpoint in CPU memory. Its buffers are reused for
// the next copy if the shapes are the same.
//
//   Snapshot snapshot;
//   absl::Status taken = snapshot.Take(checkpoint);
//   absl::Status saved = store->Save(snapshot.checkpoint());
//
// Tensors on a GPU are copied into pinned memory. Thread-compatible.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_PARTS_SNAPSHOT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_PARTS_SNAPSHOT_H_

#include <absl/status/status.h>

#include <map>
#include <string>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/rank_exchange.h"

namespace trainyard {

class Snapshot {
 public:
  // Copies a checkpoint in place of the earlier one. Tensors that another rank
  // writes are not copied: they share the memory of the original. Returns
  // ResourceExhausted if there is not enough memory; then the snapshot is
  // empty.
  absl::Status Take(const Checkpoint& checkpoint, const RankShare& share = {});

  const Checkpoint& checkpoint() const { return checkpoint_; }

 private:
  at::Tensor Copy(const std::string& key, const at::Tensor& tensor);

  Checkpoint checkpoint_;
  // By group and name.
  std::map<std::string, at::Tensor> buffers_;
  std::map<std::string, at::Tensor> used_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_PARTS_SNAPSHOT_H_
