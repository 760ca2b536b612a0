#include "trainer/checkpoint/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <filesystem>
#include <limits>
#include <mutex>
#include <thread>

#include "trainer/checkpoint/testing/checkpointer_conformance.h"
#include "trainer/checkpoint/testing/sample_checkpoint.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

std::unique_ptr<CheckpointStore> OpenStore(CheckpointStoreOptions options) {
  auto store = CheckpointStore::Open(std::move(options));
  EXPECT_TRUE(store.ok()) << store.status();
  return *std::move(store);
}

std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

std::vector<int64_t> StepsOf(CheckpointStore& store) {
  std::vector<int64_t> steps;
  const std::vector<StepInfo> list = store.List().value();
  for (const StepInfo& step : list) steps.push_back(step.step);
  return steps;
}

INSTANTIATE_TEST_SUITE_P(Store, CheckpointerConformanceTest,
                         ::testing::Values(CheckpointerCase{[] {
                           return OpenStore({.directory = TestFolder()});
                         }}));

absl::Status StartFromTheBeginning() { return absl::OkStatus(); }

absl::Status HeaderExample(const Checkpoint& checkpoint) {
  auto store = CheckpointStore::Open({.directory = "run"});
  if (!store.ok()) return store.status();
  absl::Status saved = (*store)->Save(checkpoint);  // durable if OK
  absl::StatusOr<Restored> latest = (*store)->Latest();
  if (absl::IsNotFound(latest.status())) return StartFromTheBeginning();
  EXPECT_TRUE(saved.ok()) << saved;
  return latest.status();
}

TEST(CheckpointStoreTest, HeaderExample) {
  std::filesystem::current_path(TestFolder());
  EXPECT_TRUE(HeaderExample(SampleCheckpoint(1)).ok());
  EXPECT_THAT(NamesIn("run"), ElementsAre("LOCK", "step-0000000001"));
}

TEST(CheckpointStoreTest, WritesTheDocumentedFiles) {
  const std::string folder = TestFolder();
  const auto store = OpenStore({.directory = folder + "/new/run"});
  EXPECT_TRUE(absl::IsNotFound(store->Latest().status()));
  const Checkpoint saved = SampleCheckpoint(7);
  ASSERT_TRUE(store->Save(saved).ok());
  const absl::StatusOr<Restored> latest = store->Latest();
  ASSERT_TRUE(latest.ok()) << latest.status();
  EXPECT_EQ(Describe(latest->checkpoint), Describe(saved));
  EXPECT_THAT(latest->warnings, SizeIs(0));
  EXPECT_EQ(latest->checkpoint.world_size, 1);
  EXPECT_THAT(NamesIn(folder + "/new/run"),
              ElementsAre("LOCK", "step-0000000007"));
  EXPECT_THAT(
      NamesIn(latest->path),
      ElementsAre("manifest.pb", "model.safetensors", "optimizer.safetensors",
                  "state-r00000.pb", "state-r00000.safetensors"));
}

TEST(CheckpointStoreTest, AppliesRetentionAfterASave) {
  const auto store = OpenStore(
      {.directory = TestFolder(),
       .keep = {.last = 2, .best = 1, .metric = "eval_loss", .every = 4}});
  for (const int64_t step : {1, 2, 3, 4, 5, 6, 7}) {
    Checkpoint checkpoint = SampleCheckpoint(step);
    checkpoint.metrics["eval_loss"] =
        step == 1 ? std::numeric_limits<double>::quiet_NaN()
                  : std::abs(static_cast<double>(step) - 3);
    ASSERT_TRUE(store->Save(checkpoint).ok());
  }
  EXPECT_THAT(StepsOf(*store), ElementsAre(3, 4, 6, 7));
  EXPECT_THAT(store->TakeWarnings(), SizeIs(0));
}

TEST(CheckpointStoreTest, TheNewestIsTheLastSavedAndNotTheHighest) {
  const std::string folder = TestFolder();
  {
    const auto store = OpenStore({.directory = folder, .keep = {.last = 2}});
    for (const int64_t step : {100, 200, 50}) {
      ASSERT_TRUE(store->Save(SampleCheckpoint(step)).ok());
    }
  }
  const auto store = OpenStore({.directory = folder, .keep = {.last = 2}});
  EXPECT_THAT(StepsOf(*store), ElementsAre(200, 50));
  EXPECT_EQ(store->Latest()->checkpoint.step, 50);
}

TEST(CheckpointStoreTest, SaveReplacesTheFolderOfTheSameStep) {
  const std::string folder = TestFolder();
  const auto store = OpenStore({.directory = folder});
  ASSERT_TRUE(store->Save(SampleCheckpoint(5)).ok());
  Checkpoint other = SampleCheckpoint(6);
  other.step = 5;
  ASSERT_TRUE(store->Save(other).ok());
  EXPECT_EQ(Describe(store->Load(5)->checkpoint), Describe(other));
  EXPECT_THAT(NamesIn(folder), ElementsAre("LOCK", "step-0000000005"));
}

TEST(CheckpointStoreTest, LatestSkipsAndQuarantinesDamagedCheckpoints) {
  const std::string folder = TestFolder();
  const auto store = OpenStore({.directory = folder});
  for (const int64_t step : {1, 2, 3}) {
    ASSERT_TRUE(store->Save(SampleCheckpoint(step)).ok());
  }
  const std::string weights = folder + "/step-0000000003/model.safetensors";
  FlipBit(weights, std::filesystem::file_size(weights) - 1, 3);
  std::filesystem::resize_file(folder + "/step-0000000002/manifest.pb", 100);
  EXPECT_TRUE(absl::IsDataLoss(store->Load(3).status()));
  // A reader sees the damage too, but moves nothing.
  const auto reader = OpenStore({.directory = folder, .access = Access::kRead});
  EXPECT_EQ(reader->Latest()->checkpoint.step, 1);
  EXPECT_THAT(NamesIn(folder), Not(::testing::Contains("quarantine")));

  const absl::StatusOr<Restored> latest = store->Latest();
  ASSERT_TRUE(latest.ok()) << latest.status();
  EXPECT_EQ(Describe(latest->checkpoint), Describe(SampleCheckpoint(1)));
  ASSERT_THAT(latest->warnings, SizeIs(2));
  EXPECT_THAT(latest->warnings[1], HasSubstr("model.safetensors: tensor \""));
  EXPECT_THAT(latest->warnings[1], HasSubstr("quarantine/step-0000000003."));
  EXPECT_THAT(NamesIn(folder),
              ElementsAre("LOCK", "quarantine", "step-0000000001"));
}

TEST(CheckpointStoreTest, LatestFailsIfAllCheckpointsAreDamaged) {
  const std::string folder = TestFolder();
  const auto store = OpenStore({.directory = folder});
  ASSERT_TRUE(store->Save(SampleCheckpoint(1)).ok());
  FlipBit(folder + "/step-0000000001/manifest.pb", 40);
  for (int again = 0; again < 2; ++again) {
    const absl::Status status = store->Latest().status();
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  }
}

TEST(CheckpointStoreTest, LoadCheckpointTakesAStepOrARunFolder) {
  const std::string folder = TestFolder();
  EXPECT_TRUE(absl::IsNotFound(LoadCheckpoint(folder).status()));
  EXPECT_TRUE(absl::IsNotFound(LoadCheckpoint(folder + "/none").status()));
  const auto store = OpenStore({.directory = folder});  // holds the lock
  for (const int64_t step : {1, 2}) {
    ASSERT_TRUE(store->Save(SampleCheckpoint(step)).ok());
  }
  EXPECT_EQ(LoadCheckpoint(folder)->checkpoint.step, 2);
  EXPECT_EQ(LoadCheckpoint(store->PathOf(1))->path, store->PathOf(1));
  EXPECT_EQ(Describe(LoadCheckpoint(store->PathOf(1))->checkpoint),
            Describe(SampleCheckpoint(1)));
  FlipBit(store->PathOf(1) + "/state-r00000.pb", 20);
  EXPECT_TRUE(absl::IsDataLoss(LoadCheckpoint(store->PathOf(1)).status()));
}

TEST(CheckpointStoreTest, RejectsASecondWriterAndNamesTheFirst) {
  const std::string folder = TestFolder();
  {
    const auto store = OpenStore({.directory = folder});
    const auto second = CheckpointStore::Open({.directory = folder});
    EXPECT_TRUE(absl::IsUnavailable(second.status())) << second.status();
    EXPECT_THAT(Message(second.status()),
                HasSubstr("process " + std::to_string(getpid()) + " on "));
  }
  EXPECT_TRUE(CheckpointStore::Open({.directory = folder}).ok());
}

TEST(CheckpointStoreTest, RejectsInconsistentRetention) {
  EXPECT_THROW(CheckpointStore::Open({.directory = "x", .keep = {.last = -1}})
                   .IgnoreError(),
               std::invalid_argument);
  EXPECT_THROW(CheckpointStore::Open({.directory = "x", .keep = {.best = 1}})
                   .IgnoreError(),
               std::invalid_argument);
}

// The ranks of a run as threads of one process.
class ThreadRanks {
 public:
  explicit ThreadRanks(int size) : parts_(static_cast<size_t>(size)) {}

  std::vector<std::string> Gather(int rank, const std::string& mine) {
    std::unique_lock<std::mutex> lock(mutex_);
    const int round = round_;
    parts_[static_cast<size_t>(rank)] = mine;
    if (++arrived_ == static_cast<int>(parts_.size())) {
      result_ = parts_;
      arrived_ = 0;
      ++round_;
      all_here_.notify_all();
    }
    all_here_.wait(lock, [&] { return round_ != round; });
    return result_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_here_;
  std::vector<std::string> parts_;
  std::vector<std::string> result_;
  int arrived_ = 0;
  int round_ = 0;
};

class ThreadRank final : public RankExchange {
 public:
  ThreadRank(ThreadRanks& all, int rank, int size)
      : all_(all), rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int world_size() const override { return size_; }
  absl::StatusOr<std::vector<std::string>> AllGather(
      const std::string& mine) override {
    return all_.Gather(rank_, mine);
  }

 private:
  ThreadRanks& all_;
  int rank_;
  int size_;
};

Checkpoint CheckpointOfRank(int rank) {
  Checkpoint checkpoint = SampleCheckpoint(9);
  State mine;
  mine.Set("rank", int64_t{rank});
  checkpoint.parts.emplace("mine", mine);
  return checkpoint;
}

TEST(CheckpointStoreTest, RanksWriteAShareEachAndReadAll) {
  const std::string folder = TestFolder();
  constexpr int kRanks = 3;
  ThreadRanks all(kRanks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadRank exchange(all, rank, kRanks);
      const auto store = OpenStore({.directory = folder, .ranks = &exchange});
      ASSERT_TRUE(store->Save(CheckpointOfRank(rank)).ok());
      // A part that one rank cannot write makes the save fail on all ranks.
      Checkpoint bad = CheckpointOfRank(rank);
      if (rank == 1) bad.parts.emplace("a/b", State());
      const absl::Status refused = store->Save(bad);
      EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
      EXPECT_THAT(Message(refused), HasSubstr("\"a/b\""));
      for (const auto& restored : {store->Latest(), store->Load(9),
                                   LoadCheckpoint(store->PathOf(9), exchange),
                                   LoadCheckpoint(folder, exchange)}) {
        ASSERT_TRUE(restored.ok()) << restored.status();
        EXPECT_EQ(Describe(restored->checkpoint),
                  Describe(CheckpointOfRank(rank)));
      }
      // One rank asks for a step that is not there: no rank loads, none hangs.
      EXPECT_TRUE(absl::IsNotFound(store->Load(rank == 2 ? 8 : 9).status()));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(NamesIn(folder + "/step-0000000009"),
              ElementsAre("manifest.pb", "model-00001-of-00003.safetensors",
                          "model-00002-of-00003.safetensors",
                          "model-00003-of-00003.safetensors",
                          "model.safetensors.index.json",
                          "optimizer-00001-of-00002.safetensors",
                          "optimizer-00002-of-00002.safetensors",
                          "optimizer.safetensors.index.json", "state-r00000.pb",
                          "state-r00000.safetensors", "state-r00001.pb",
                          "state-r00001.safetensors", "state-r00002.pb",
                          "state-r00002.safetensors"));
  EXPECT_THAT(NamesIn(folder), ElementsAre("LOCK", "step-0000000009"));
  // A single rank reads what three wrote, and sees damage in the others' files.
  FlipBit(folder + "/step-0000000009/state-r00002.safetensors", 100);
  EXPECT_TRUE(
      absl::IsDataLoss(OpenStore({.directory = folder})->Latest().status()));
  FlipBit(folder + "/step-0000000009/state-r00002.safetensors", 100);
  const auto single = OpenStore({.directory = folder});
  const absl::StatusOr<Restored> latest = single->Latest();
  ASSERT_TRUE(latest.ok()) << latest.status();
  EXPECT_EQ(latest->checkpoint.world_size, kRanks);
  EXPECT_EQ(Describe(latest->checkpoint), Describe(CheckpointOfRank(0)));
}

}  // namespace
}  // namespace trainyard
