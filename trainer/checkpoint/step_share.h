// What one process writes of a checkpoint, and how one is read back.
//
//   StepWriter writer(folder, save_uuid);
//   auto files = WriteShare(checkpoint, {.rank = 0, .world_size = 1}, writer);
//   absl::StatusOr<Checkpoint> same = ReadStep(reader, /*rank=*/0);
//
// Thread-safe, as long as nobody writes to the tensors meanwhile.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_STEP_SHARE_H_
#define TRAINYARD_TRAINER_CHECKPOINT_STEP_SHARE_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/format/manifest.pb.h"
#include "trainer/checkpoint/format/step_reader.h"
#include "trainer/checkpoint/format/step_writer.h"

namespace trainyard {

struct ShareOf {
  // This process among those that write to the same folder.
  int rank = 0;
  int world_size = 1;
  // Among all of the run: what its parts are named by.
  int process = 0;
  // Which save it is: 16 bytes, the writer's.
  std::string save_uuid = {};
};

// Which process writes each of a group's tensors: about the same bytes each,
// the same answer on all of them.
std::vector<int> WritersOf(const std::vector<NamedTensor>& tensors,
                           int world_size);

// Each tensor is written by one process, and all by all of them together; parts
// by each. InvalidArgument for names that cannot be; FailedPrecondition for a
// tensor that contains NaN.
absl::StatusOr<std::vector<pb::FileEntry>> WriteShare(
    const Checkpoint& checkpoint, const ShareOf& share, StepWriter& writer);

// About how many bytes all processes will write.
uint64_t SizeOf(const Checkpoint& checkpoint);

// Checks every byte. Tensors are on the host, in name order. DataLoss if
// anything is damaged or missing.
absl::StatusOr<Checkpoint> ReadStep(const StepReader& step, int rank);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_STEP_SHARE_H_
