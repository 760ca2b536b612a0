#include "trainer/checkpoint/testing/memory_checkpointer.h"

#include <gtest/gtest.h>

#include <memory>

#include "trainer/checkpoint/testing/checkpointer_conformance.h"
#include "trainer/checkpoint/testing/sample_checkpoint.h"

namespace trainyard {
namespace {

INSTANTIATE_TEST_SUITE_P(Memory, CheckpointerConformanceTest,
                         ::testing::Values(CheckpointerCase{[] {
                           return std::make_unique<MemoryCheckpointer>();
                         }}));

TEST(CheckpointerTest, HeaderExample) {
  MemoryCheckpointer checkpointer;
  const Checkpoint checkpoint = SampleCheckpoint(7);
  absl::Status saved = checkpointer.Save(checkpoint);  // durable if OK
  absl::StatusOr<Restored> newest = checkpointer.Latest();
  EXPECT_TRUE(saved.ok()) << saved;
  EXPECT_EQ(Describe(newest->checkpoint), Describe(checkpoint));
}

TEST(MemoryCheckpointerTest, HeaderExample) {
  const auto memory = std::make_shared<MemoryCheckpointer>();
  EXPECT_TRUE(memory->Save(SampleCheckpoint(7)).ok());
  EXPECT_EQ(memory->Latest()->checkpoint.step, 7);
}

}  // namespace
}  // namespace trainyard
