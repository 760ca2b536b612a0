// MemoryCheckpointer keeps checkpoints in memory, for tests that need no files.
// It keeps all of them. With several ranks each process keeps its own parts and
// all tensors.
//
//   const auto memory = std::make_shared<MemoryCheckpointer>();
//   EXPECT_TRUE(memory->Save(SampleCheckpoint(7)).ok());
//   EXPECT_EQ(memory->Latest()->checkpoint.step, 7);
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TESTING_MEMORY_CHECKPOINTER_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TESTING_MEMORY_CHECKPOINTER_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpointer.h"

namespace trainyard {

class MemoryCheckpointer final : public Checkpointer {
 public:
  absl::Status Start(RankExchange& ranks) override;
  absl::Status Save(const Checkpoint& checkpoint) override;
  absl::StatusOr<Restored> Latest() override;
  absl::StatusOr<Restored> Load(int64_t step) override;
  absl::StatusOr<std::vector<StepInfo>> List() override;
  // "memory/7".
  std::string PathOf(int64_t step) const override;

 private:
  int world_size_ = 1;
  // In the order in which they were saved.
  std::vector<Checkpoint> saved_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TESTING_MEMORY_CHECKPOINTER_H_
