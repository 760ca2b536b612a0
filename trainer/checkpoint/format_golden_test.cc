// Checkpoints of earlier versions must always load.
#include <gtest/gtest.h>

#include <filesystem>

#include "trainer/checkpoint/state_crc32c.h"
#include "trainer/checkpoint/store.h"
#include "trainer/checkpoint/testing/sample_checkpoint.h"
#include "trainer/state_tensor.h"

namespace trainyard {
namespace {

// Written by tools/faults:save_loop --steps=1 --elements=3, which printed these
// numbers.
TEST(FormatGoldenTest, Format1) {
  const std::string folder = TestFolder();
  // Bazel shows files as links, which the reader rejects.
  std::filesystem::copy("trainer/checkpoint/testdata/format1", folder,
                        std::filesystem::copy_options::recursive);
  const auto store =
      CheckpointStore::Open({.directory = folder, .access = Access::kRead});
  ASSERT_TRUE(store.ok()) << store.status();
  const absl::StatusOr<Restored> latest = (*store)->Latest();
  ASSERT_TRUE(latest.ok()) << latest.status();
  const Checkpoint& checkpoint = latest->checkpoint;
  EXPECT_EQ(checkpoint.step, 1);
  EXPECT_EQ(StateCrc32c(checkpoint.tensors.at("model")), 0x88ace820U);
  EXPECT_EQ(GetTensor(checkpoint.parts.at("rng"), "cpu").numel(), 5056);
}

}  // namespace
}  // namespace trainyard
