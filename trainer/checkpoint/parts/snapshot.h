// Snapshot is a copy of a checkpoint in CPU memory. Its buffers are reused for
// the next copy if the shapes are the same.
//
//   Snapshot snapshot;
//   absl::Status taken = snapshot.Take(checkpoint);
//   absl::Status saved = store->Save(snapshot.checkpoint());
//
// Tensors on an accelerator are copied asynchronously into page-locked memory:
// Take does not wait for them, checkpoint() does, also in another thread.
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_PARTS_SNAPSHOT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_PARTS_SNAPSHOT_H_

#include <absl/status/status.h>
#include <c10/core/Device.h>
#include <c10/core/Event.h>

#include <cstddef>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

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

  // Waits for the copies.
  const Checkpoint& checkpoint() const;

 private:
  struct Bytes {
    const std::byte* from;
    std::byte* to;
    size_t size;
  };
  // Returns the copy of a tensor; CopyBytes fills it if the tensor is plain
  // memory.
  at::Tensor Copy(const std::string& key, const at::Tensor& tensor);
  // By as many threads as libtorch has: one does not use the whole bandwidth of
  // the memory, and training waits.
  void CopyBytes();
  // Marks the end of the copies on each device.
  void RecordCopies();

  Checkpoint checkpoint_;
  // By group and name.
  std::map<std::string, at::Tensor> buffers_;
  std::map<std::string, at::Tensor> used_;
  // Of the current copy.
  std::vector<Bytes> bytes_;
  // The devices that the current copy reads from.
  std::unordered_set<at::Device> devices_;
  // One per device.
  std::vector<c10::Event> copied_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_PARTS_SNAPSHOT_H_
