// Each system call of a save fails, and the process is killed before each of
// them. Earlier checkpoints and acknowledged ones are always intact.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <iostream>

#include "trainer/checkpoint/format/step_reader.h"
#include "trainer/checkpoint/format/step_writer.h"
#include "trainer/checkpoint/store.h"
#include "trainer/checkpoint/testing/memory_folder.h"
#include "trainer/checkpoint/testing/sample_checkpoint.h"
#include "trainer/io/input_file.h"
#include "trainer/io/testing/faulty_file_system.h"
#include "trainer/io/testing/memory_file_system.h"

namespace trainyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::unique_ptr<CheckpointStore> OpenStore(const std::string& folder,
                                           FileSystem& files) {
  auto store = CheckpointStore::Open(
      {.directory = folder, .keep = {.last = 2}, .files = &files});
  EXPECT_TRUE(store.ok()) << store.status();
  return store.ok() ? *std::move(store) : nullptr;
}

// A folder with checkpoints of steps 1 and 2; saving 3 deletes 1. It is written
// once and copied for each of the hundreds of saves.
std::string FolderWithTwo() {
  static const std::string* const saved = [] {
    const auto* const folder = new std::string(MemoryFolder() + "/saved");
    const auto store = OpenStore(*folder, RealFileSystem());
    EXPECT_TRUE(store->Save(SampleCheckpoint(1)).ok());
    EXPECT_TRUE(store->Save(SampleCheckpoint(2)).ok());
    return folder;
  }();
  std::string folder = MemoryFolder() + "/copy";
  std::filesystem::remove_all(folder);
  std::filesystem::copy(*saved, folder,
                        std::filesystem::copy_options::recursive);
  return folder;
}

size_t OpenDescriptors() {
  return static_cast<size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

// Opens the folder like the next run. Every listed checkpoint must be intact;
// step 2 or 3 is the newest, and step 3 if it was acknowledged.
void ExpectSound(const std::string& folder, bool acknowledged) {
  const auto store = OpenStore(folder, RealFileSystem());
  const absl::StatusOr<std::vector<StepInfo>> steps = store->List();
  ASSERT_TRUE(steps.ok()) << steps.status();
  for (const StepInfo& step : *steps) {
    const absl::StatusOr<Restored> loaded = store->Load(step.step);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_EQ(Describe(loaded->checkpoint),
              Describe(SampleCheckpoint(step.step)));
  }
  const absl::StatusOr<Restored> latest = store->Latest();
  ASSERT_TRUE(latest.ok()) << latest.status();
  EXPECT_TRUE(latest->warnings.empty()) << latest->warnings[0];
  EXPECT_GE(latest->checkpoint.step, acknowledged ? 3 : 2);
  EXPECT_THAT(NamesIn(folder), Not(Contains(StartsWith("."))))
      << "leftovers are deleted";
}

class StoreErrorTest : public ::testing::TestWithParam<int> {};

TEST_P(StoreErrorTest, SurvivesAFailureOfEveryCall) {
  int failed = 0;
  for (int64_t call = 1;; ++call) {
    const std::string folder = FolderWithTwo();
    FaultyFileSystem files(RealFileSystem());
    const size_t descriptors = OpenDescriptors();
    bool saved = false;
    {
      const auto store = OpenStore(folder, files);
      files.FailCall(call, GetParam());
      const absl::Status status = store->Save(SampleCheckpoint(3));
      saved = status.ok();
      if (!saved) {
        ++failed;
        EXPECT_THAT(std::string(status.message()), HasSubstr(folder)) << call;
        // A second attempt starts from scratch.
        files.FailCall(0, 0);
        EXPECT_TRUE(store->Save(SampleCheckpoint(3)).ok()) << call;
      }
      if (!files.fault_fired() && saved) break;
    }
    EXPECT_EQ(OpenDescriptors(), descriptors) << "after call " << call;
    ExpectSound(folder, true);
    ASSERT_LT(call, 1000);
  }
  EXPECT_GT(failed, 30) << "calls before the commit";
}

INSTANTIATE_TEST_SUITE_P(Errors, StoreErrorTest,
                         ::testing::Values(EIO, ENOSPC));

TEST(StoreFaultTest, SurvivesAKillBeforeEveryCall) {
  int acknowledged = 0;
  int64_t call = 1;
  for (bool ended = true; ended; ++call) {
    const std::string folder = FolderWithTwo();
    bool saved = false;
    {
      FaultyFileSystem files(RealFileSystem());
      const auto store = OpenStore(folder, files);
      files.StopAtCall(call);
      saved = store->Save(SampleCheckpoint(3)).ok();
      ended = files.fault_fired();
    }
    acknowledged += saved ? 1 : 0;
    ExpectSound(folder, saved);
    ASSERT_LT(call, 1000);
  }
  std::cout << "killed before each of " << call - 2 << " calls; "
            << acknowledged << " were acknowledged\n";
  EXPECT_GT(call, 60);
  EXPECT_GT(acknowledged, 3) << "also while old ones are deleted";
}

class StoreKillPointTest : public ::testing::TestWithParam<const char*> {};

TEST_P(StoreKillPointTest, LeavesTheOldOrTheNewCheckpoint) {
  for (int nth = 1; nth < 100; ++nth) {
    const std::string folder = FolderWithTwo();
    bool saved = false;
    bool ended = false;
    {
      FaultyFileSystem files(RealFileSystem());
      const auto store = OpenStore(folder, files);
      files.StopAt(GetParam(), nth);
      saved = store->Save(SampleCheckpoint(3)).ok();
      ended = files.fault_fired();
    }
    if (!ended) {
      EXPECT_GT(nth, 1) << "the point is never reached";
      return;
    }
    ExpectSound(folder, saved);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Points, StoreKillPointTest,
    ::testing::Values("save.folder_made", "save.tensors_written",
                      "save.before_manifest", "save.manifest_written",
                      "commit.renamed", "commit.durable", "remove.renamed",
                      "remove.file_removed"));

// The file of weights without the uuid of the save: the same for every save.
std::string Weights(FileSystem& files) {
  const std::string folder = "/run/step-0000000005";
  const auto file = InputFile::Open(folder + "/model.safetensors", files);
  std::string bytes(file->size(), '\0');
  EXPECT_TRUE(file->ReadAt(0, bytes.data(), bytes.size()).ok());
  const std::string uuid =
      HexOf(StepReader::Open(folder, files)->manifest().save_uuid());
  const size_t at = bytes.find(uuid);
  EXPECT_NE(at, std::string::npos);
  return bytes.erase(at, uuid.size());
}

TEST(StoreFaultTest, ShortAndInterruptedCallsWriteTheSameBytes) {
  MemoryFileSystem disk;
  FaultyFileSystem files(disk);
  const auto store = OpenStore("/run", files);
  ASSERT_TRUE(store->Save(SampleCheckpoint(5)).ok());
  const std::string weights = Weights(disk);
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    files.MakeUneven(seed);
    ASSERT_TRUE(store->Save(SampleCheckpoint(5)).ok()) << seed;
    ASSERT_EQ(Weights(disk), weights) << seed;
    const absl::StatusOr<Restored> loaded = store->Load(5);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    ASSERT_EQ(Describe(loaded->checkpoint), Describe(SampleCheckpoint(5)));
  }
}

TEST(StoreFaultTest, AFullDiskIsReportedBeforeAnythingIsWritten) {
  class FullDisk final : public FileSystemWrapper {
   public:
    FullDisk() : FileSystemWrapper(RealFileSystem()) {}
    int FreeBytes(const std::string&, uint64_t& bytes) override {
      bytes = 100;
      return 0;
    }
  };
  const std::string folder = FolderWithTwo();
  FullDisk files;
  const auto store = OpenStore(folder, files);
  const absl::Status status = store->Save(SampleCheckpoint(3));
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              ::testing::MatchesRegex(".*the disk is full: the checkpoint of "
                                      "step 3 needs [0-9]+ bytes, and 100 are "
                                      "free"));
  EXPECT_THAT(NamesIn(folder),
              ElementsAre("LOCK", "step-0000000001", "step-0000000002"));
}

TEST(StoreFaultTest, ADeletedFolderIsAnErrorAndNotCreatedAgain) {
  const std::string folder = FolderWithTwo();
  const auto store = OpenStore(folder, RealFileSystem());
  std::filesystem::remove_all(folder);
  EXPECT_TRUE(absl::IsNotFound(store->Save(SampleCheckpoint(3))));
  EXPECT_FALSE(std::filesystem::exists(folder));
}

}  // namespace
}  // namespace trainyard
