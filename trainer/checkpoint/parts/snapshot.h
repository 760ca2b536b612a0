// Snapshot is a copy of a checkpoint on the host, in buffers that are used
// again for the next one of the same shapes.
//
//   Snapshot snapshot;
//   absl::Status taken = snapshot.Take(checkpoint);
//   store.Save(snapshot.checkpoint());   // whatever happens to the original
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
  // In place of what was taken before. After an error (no memory) there is
  // none. Tensors that another process writes are not copied: they stay those
  // of the original.
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
