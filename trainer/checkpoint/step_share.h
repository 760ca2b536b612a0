// Writes the share of a checkpoint that one rank has to write, and reads a
// whole checkpoint back.
//
//   StepWriter writer(folder, save_uuid);
//   const auto files = WriteShare(checkpoint, {.rank = 0}, writer);
//   absl::StatusOr<Checkpoint> same = ReadStep(reader, /*rank=*/0);
//
// Thread-safe while nobody writes to the tensors.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_STEP_SHARE_H_
#define TRAINYARD_TRAINER_CHECKPOINT_STEP_SHARE_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <vector>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/format/manifest.pb.h"
#include "trainer/checkpoint/format/step_reader.h"
#include "trainer/checkpoint/format/step_writer.h"
#include "trainer/checkpoint/rank_exchange.h"

namespace trainyard {

// Returns the rank that writes each tensor of a group. The shares have about
// the same number of bytes. All ranks get the same result.
std::vector<int> WritersOf(const std::vector<NamedTensor>& tensors,
                           int world_size);

// Writes this rank's share of the tensors, and all of its slices and parts.
// Returns InvalidArgument for a name that is not allowed and FailedPrecondition
// for a tensor that contains NaN, and for slices that not all ranks write to
// the same folder.
absl::StatusOr<std::vector<pb::FileEntry>> WriteShare(
    const Checkpoint& checkpoint, const RankShare& share, StepWriter& writer);

// Returns the version of the format that the checkpoint needs.
uint32_t FormatOf(const Checkpoint& checkpoint);

// Estimates how many bytes all ranks write together.
uint64_t SizeOf(const Checkpoint& checkpoint);

// Reads a checkpoint with the parts of `rank`, and checks every byte of every
// file. Tensors are on the CPU, in name order. Returns DataLoss if anything is
// damaged or missing.
absl::StatusOr<Checkpoint> ReadStep(const StepReader& step, int rank);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_STEP_SHARE_H_
