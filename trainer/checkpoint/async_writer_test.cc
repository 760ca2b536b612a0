#include "trainer/checkpoint/async_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <future>

#include "tools/launch/testing/test_rank.h"
#include "trainer/checkpoint/store.h"
#include "trainer/checkpoint/testing/sample_checkpoint.h"
#include "trainer/io/testing/file_system_wrapper.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

// A checkpoint as a run has it: its tensors are on the device.
Checkpoint LiveCheckpoint(int64_t step) {
  Checkpoint checkpoint = SampleCheckpoint(step);
  for (auto& [group, tensors] : checkpoint.tensors) {
    for (NamedTensor& item : tensors) {
      item.tensor = item.tensor.to(at::Device(TestDevice()));
    }
  }
  return checkpoint;
}

// Blocks the writer before the manifest until the gate opens; can also fail.
class GatedFiles final : public FileSystemWrapper {
 public:
  GatedFiles() : FileSystemWrapper(RealFileSystem()) {}

  void KillPoint(std::string_view name) override {
    if (name != "save.before_manifest" || open_) return;
    reached_.set_value();
    go_.get_future().wait();
  }
  // Opens the gate for the save in flight and for all later ones.
  void KeepOpen() {
    open_ = true;
    go_.set_value();
  }
  int MakeFolder(const std::string& path) override {
    return fails_ ? -EIO : FileSystemWrapper::MakeFolder(path);
  }

  void Reset() {
    reached_ = {};
    go_ = {};
  }
  std::promise<void> reached_;
  std::promise<void> go_;
  bool fails_ = false;
  std::atomic<bool> open_ = false;
};

class AsyncCheckpointWriterTest : public ::testing::Test {
 protected:
  AsyncCheckpointWriterTest() {
    auto store =
        CheckpointStore::Open({.directory = TestFolder(), .files = &files_});
    EXPECT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }

  GatedFiles files_;
  std::unique_ptr<CheckpointStore> store_;
};

TEST_F(AsyncCheckpointWriterTest, SavesTheStateAtTheTimeOfTheCall) {
  AsyncCheckpointWriter writer(*store_);
  std::vector<Checkpoint> saved;
  for (const int64_t step : {1, 2, 3}) {
    files_.Reset();
    Checkpoint live = LiveCheckpoint(step);
    ASSERT_TRUE(writer.Save(live).ok());
    files_.reached_.get_future().wait();
    EXPECT_TRUE(writer.busy());
    // Training continues while the thread writes.
    for (auto& [group, tensors] : live.tensors) {
      for (const NamedTensor& item : tensors) item.tensor.zero_();
    }
    files_.go_.set_value();
    ASSERT_TRUE(writer.Wait().ok());
    EXPECT_FALSE(writer.busy());
    EXPECT_EQ(Describe(store_->Load(step)->checkpoint),
              Describe(SampleCheckpoint(step)));
  }
}

TEST_F(AsyncCheckpointWriterTest, NextCallReturnsTheErrorOnce) {
  AsyncCheckpointWriter writer(*store_);
  files_.fails_ = true;
  ASSERT_TRUE(writer.Save(SampleCheckpoint(1)).ok());
  while (writer.busy()) std::this_thread::yield();
  files_.fails_ = false;
  const absl::Status earlier = writer.Save(SampleCheckpoint(2));
  EXPECT_THAT(std::string(earlier.message()),
              HasSubstr("the folder cannot be created"));
  files_.reached_.get_future().wait();
  files_.go_.set_value();
  EXPECT_TRUE(writer.Wait().ok());
  EXPECT_EQ(store_->Latest()->checkpoint.step, 2);
}

TEST_F(AsyncCheckpointWriterTest, SaveWaitsForTheSaveInFlight) {
  AsyncCheckpointWriter writer(*store_);
  ASSERT_TRUE(writer.Save(SampleCheckpoint(1)).ok());
  files_.reached_.get_future().wait();
  std::future<absl::Status> second = std::async(std::launch::async, [&] {
    // The gate opens only after this thread has called Save, or just before: in
    // both cases the first save must be complete when Save returns.
    return writer.Save(SampleCheckpoint(2));
  });
  files_.KeepOpen();
  EXPECT_TRUE(second.get().ok());
  EXPECT_TRUE(writer.Wait().ok());
  EXPECT_EQ(store_->List()->size(), 2);
  EXPECT_EQ(store_->Latest()->checkpoint.step, 2);
}

TEST_F(AsyncCheckpointWriterTest, HeaderExample) {
  const auto& store = store_;
  const Checkpoint checkpoint = SampleCheckpoint(1);
  files_.KeepOpen();
  AsyncCheckpointWriter writer(*store);
  absl::Status earlier = writer.Save(checkpoint);  // result of the last save
  absl::Status last = writer.Wait();               // before the run ends
  EXPECT_TRUE(earlier.ok());
  EXPECT_TRUE(last.ok()) << last;
}

TEST_F(AsyncCheckpointWriterTest, DestructorWaitsForTheSaveInFlight) {
  {
    AsyncCheckpointWriter writer(*store_);
    files_.go_.set_value();
    ASSERT_TRUE(writer.Save(SampleCheckpoint(1)).ok());
  }
  EXPECT_EQ(store_->Latest()->checkpoint.step, 1);
}

}  // namespace
}  // namespace trainyard
