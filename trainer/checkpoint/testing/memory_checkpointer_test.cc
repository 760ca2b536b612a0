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

TEST(MemoryCheckpointerTest, HeaderExample) {
  const auto memory = std::make_shared<MemoryCheckpointer>();
  EXPECT_TRUE(memory->Save(SampleCheckpoint(7)).ok());
  EXPECT_EQ(memory->Latest()->checkpoint.step, 7);
}

}  // namespace
}  // namespace trainyard
