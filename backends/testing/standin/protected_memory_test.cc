#include "backends/testing/standin/protected_memory.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cmath>
#include <cstring>

namespace trainyard::standin {
namespace {

using ::testing::KilledBySignal;

void Touch(void* address) { *static_cast<volatile char*>(address) = 1; }

TEST(ProtectedMemoryTest, AnOpenBlockCanBeWritten) {
  ProtectedMemory memory;
  void* const block = memory.Allocate(64);
  memory.Open(block);
  std::memset(block, 0, 64);
  memory.Close(block);
  memory.Free(block);
}

TEST(ProtectedMemoryDeathTest, AClosedBlockFaults) {
  ProtectedMemory memory;
  void* const block = memory.Allocate(64);
  EXPECT_EXIT(Touch(block), KilledBySignal(SIGSEGV), "");
  memory.Open(block);
  memory.Open(block);
  memory.Close(block);
  Touch(block);
  memory.Close(block);
  EXPECT_EXIT(Touch(block), KilledBySignal(SIGSEGV), "");
}

TEST(ProtectedMemoryDeathTest, AFreedBlockAndThePageAfterABlockFault) {
  ProtectedMemory memory;
  char* const block = static_cast<char*>(memory.Allocate(4096));
  memory.Open(block);
  EXPECT_EXIT(Touch(block + 4096), KilledBySignal(SIGSEGV), "");
  memory.Free(block);
  EXPECT_EXIT(Touch(block), KilledBySignal(SIGSEGV), "");
}

TEST(ProtectedMemoryDeathTest, TheHostMayBeAllowedToRead) {
  ProtectedMemory memory;
  void* const block = memory.Allocate(64, HostAccess::kAll);
  Touch(block);
  memory.SetHostAccess(block, HostAccess::kRead);
  EXPECT_EQ(*static_cast<char*>(block), 1);
  EXPECT_EXIT(Touch(block), KilledBySignal(SIGSEGV), "");
}

TEST(ProtectedMemoryTest, NewBlocksHoldNanAlsoAtAUsedAddress) {
  ProtectedMemory memory;
  for (int i = 0; i < 200; ++i) {
    void* const block = memory.Allocate(sizeof(float));
    memory.Open(block);
    float value = 0;
    std::memcpy(&value, block, sizeof(value));
    EXPECT_TRUE(std::isnan(value));
    std::memset(block, 0, sizeof(value));
    memory.Close(block);
    memory.Free(block);
  }
}

TEST(ProtectedMemoryTest, FindsBlocksAndCountsBytes) {
  ProtectedMemory memory;
  char* const block = static_cast<char*>(memory.Allocate(100));
  EXPECT_EQ(memory.Find(block + 99), block);
  EXPECT_EQ(memory.Find(block + 4096), nullptr);
  EXPECT_TRUE(memory.Contains(block + 4096));
  EXPECT_FALSE(memory.Contains(&memory));
  void* const other = memory.Allocate(1000);
  EXPECT_EQ(memory.bytes_in_use(), 1100U);
  memory.Free(other);
  EXPECT_EQ(memory.bytes_in_use(), 100U);
  EXPECT_EQ(memory.peak_bytes(), 1100U);
}

}  // namespace
}  // namespace trainyard::standin
