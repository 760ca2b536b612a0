// The power fails at every call of a save, on a disk that loses all data that
// was not synced.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "trainer/checkpoint/store.h"
#include "trainer/checkpoint/testing/sample_checkpoint.h"
#include "trainer/io/testing/faulty_file_system.h"
#include "trainer/io/testing/file_system_wrapper.h"
#include "trainer/io/testing/memory_file_system.h"

namespace trainyard {
namespace {

std::unique_ptr<CheckpointStore> OpenStore(FileSystem& files) {
  auto store = CheckpointStore::Open(
      {.directory = "/run", .keep = {.last = 2}, .files = &files});
  EXPECT_TRUE(store.ok()) << store.status();
  return *std::move(store);
}

TEST(PowerLossTest, AcknowledgedCheckpointsSurviveAPowerCutAtEveryCall) {
  int64_t call = 1;
  int acknowledged = 0;
  for (bool failed = true; failed; ++call) {
    MemoryFileSystem disk;
    int64_t last = 0;
    {
      FaultyFileSystem files(disk);
      const auto store = OpenStore(files);
      files.StopAtCall(call);
      for (const int64_t step : {1, 2, 3, 4}) {
        if (!store->Save(SampleCheckpoint(step)).ok()) break;
        last = step;
        ++acknowledged;
      }
      failed = files.fault_fired();
    }
    disk.CutPower();
    const auto store = OpenStore(disk);
    const absl::StatusOr<std::vector<StepInfo>> steps = store->List();
    ASSERT_TRUE(steps.ok()) << steps.status();
    for (const StepInfo& step : *steps) {
      const absl::StatusOr<Restored> loaded = store->Load(step.step);
      ASSERT_TRUE(loaded.ok()) << "call " << call << ": " << loaded.status();
      ASSERT_EQ(Describe(loaded->checkpoint),
                Describe(SampleCheckpoint(step.step)));
    }
    const absl::StatusOr<Restored> latest = store->Latest();
    if (last == 0 && absl::IsNotFound(latest.status())) continue;
    ASSERT_TRUE(latest.ok()) << "call " << call << ": " << latest.status();
    ASSERT_GE(latest->checkpoint.step, last);
    ASSERT_TRUE(latest->warnings.empty()) << latest->warnings[0];
  }
  std::cout << "power failed before each of " << call - 2 << " calls, after "
            << acknowledged << " acknowledged saves\n";
  EXPECT_GT(call, 200);
}

// Proves that the test above can fail: without fsync the disk loses everything.
TEST(PowerLossTest, WithoutSyncEverythingIsLost) {
  class NoSync final : public FileSystemWrapper {
   public:
    using FileSystemWrapper::FileSystemWrapper;
    int Sync(int) override { return 0; }
  };
  MemoryFileSystem disk;
  {
    NoSync files(disk);
    ASSERT_TRUE(OpenStore(files)->Save(SampleCheckpoint(1)).ok());
  }
  disk.CutPower();
  EXPECT_TRUE(absl::IsNotFound(OpenStore(disk)->Latest().status()));
}

}  // namespace
}  // namespace trainyard
