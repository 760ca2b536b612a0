#include "trainer/checkpoint/slice_files.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "trainer/checkpoint/store.h"
#include "trainer/checkpoint/testing/sample_checkpoint.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

at::Tensor Weight() { return at::arange(6, at::kFloat).reshape({2, 3}); }

TensorSlice Part(int64_t begin, int64_t count) {
  return {"weight", SliceOf(Weight(), begin, count), {2, 3}, begin};
}

std::string Joined(const std::vector<TensorSlice>& slices) {
  std::vector<NamedTensor> tensors;
  SliceJoin join("optimizer");
  for (const TensorSlice& slice : slices) join.Add(slice);
  const absl::Status joined = join.Finish(tensors);
  if (!joined.ok()) return std::string(joined.message());
  EXPECT_EQ(tensors.size(), 1);
  EXPECT_TRUE(tensors[0].tensor.equal(Weight()));
  return "whole";
}

TEST(SliceFilesTest, HeaderExample) {
  Checkpoint checkpoint;
  checkpoint.slices["optimizer"] = {Part(0, 6)};
  pb::FileEntry file;
  file.add_tensors()->set_name("weight");
  DescribeSlices(checkpoint.slices.at("optimizer"), file);
  EXPECT_THAT(file.tensors(0).slice().sizes(), ElementsAre(2, 3));

  std::vector<NamedTensor> tensors;
  const TensorSlice slice = Part(0, 6);
  SliceJoin join("optimizer");
  join.Add(slice);  // of every rank
  const absl::Status joined = join.Finish(tensors);
  EXPECT_TRUE(joined.ok()) << joined;
}

TEST(SliceFilesTest, JoinsInAnyOrder) {
  EXPECT_EQ(Joined({Part(4, 2), Part(0, 4)}), "whole");
  EXPECT_EQ(Joined({Part(0, 6)}), "whole");
}

TEST(SliceFilesTest, RefusesWhatDoesNotFitTogether) {
  EXPECT_THAT(Joined({Part(0, 4)}), HasSubstr("are not complete"));
  EXPECT_THAT(Joined({Part(0, 4), Part(5, 1)}), HasSubstr("overlap or have"));
  EXPECT_THAT(Joined({Part(0, 4), Part(3, 3)}), HasSubstr("overlap or have"));
  EXPECT_THAT(Joined({Part(1, 5)}), HasSubstr("overlap or have gaps"));
  TensorSlice other = Part(4, 2);
  other.sizes = {3, 2};
  EXPECT_THAT(Joined({Part(0, 4), other}), HasSubstr("differ in shape"));
  other = Part(4, 2);
  other.values = other.values.to(at::kDouble);
  EXPECT_THAT(Joined({Part(0, 4), other}), HasSubstr("differ in shape"));
  // A number of elements that fits into no 64 bits.
  other = Part(0, 6);
  other.sizes = {int64_t{1} << 40, int64_t{1} << 40};
  EXPECT_THAT(Joined({other}),
              HasSubstr("slices of \"weight\" in \"optimizer\" are not"));
}

// Ranks that are threads.
class ThreadRanks {
 public:
  explicit ThreadRanks(int count) : texts_(count) {}
  std::vector<std::string> Exchange(int rank, const std::string& text) {
    std::unique_lock lock(mutex_);
    texts_[rank] = text;
    const int round = round_;
    if (++arrived_ == static_cast<int>(texts_.size())) {
      arrived_ = 0;
      all_ = texts_;
      ++round_;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return round_ != round; });
    return all_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> texts_, all_;
  int arrived_ = 0, round_ = 0;
};

class ThreadRank final : public RankExchange {
 public:
  ThreadRank(ThreadRanks& ranks, int rank, int leader)
      : ranks_(ranks), rank_(rank), leader_(leader) {}
  int rank() const override { return rank_; }
  int world_size() const override { return 2; }
  int leader() const override { return leader_; }
  absl::StatusOr<std::vector<std::string>> AllGather(
      const std::string& mine) override {
    return ranks_.Exchange(rank_, mine);
  }

 private:
  ThreadRanks& ranks_;
  const int rank_, leader_;
};

// Two ranks save the slices of a weight; returns their statuses.
std::vector<absl::Status> SaveTogether(
    const std::vector<std::string>& folders) {
  ThreadRanks ranks(2);
  std::vector<absl::Status> saved(2);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadRank exchange(ranks, rank, folders[0] == folders[1] ? 0 : rank);
      auto store = CheckpointStore::Open(
          {.directory = folders[rank], .ranks = &exchange});
      Checkpoint checkpoint{.step = 7};
      checkpoint.tensors["model"] = {{"bias", at::arange(3)}};
      checkpoint.slices["model"] = {rank == 0 ? Part(0, 4) : Part(4, 2)};
      checkpoint.slices["model"].push_back(
          {"nothing", at::empty({0}), {0, 2}, 0});
      saved[rank] = (*store)->Save(checkpoint);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return saved;
}

TEST(SliceFilesTest, EveryRankWritesItsSlicesAndAReaderGetsWholeTensors) {
  const std::string folder = TestFolder();
  for (const absl::Status& saved : SaveTogether({folder, folder})) {
    EXPECT_TRUE(saved.ok()) << saved;
  }
  EXPECT_THAT(
      NamesIn(folder + "/step-0000000007"),
      ElementsAre("manifest.pb", "model-slices-r00000.safetensors",
                  "model-slices-r00001.safetensors", "model.safetensors",
                  "state-r00000.pb", "state-r00001.pb"));
  const absl::StatusOr<Restored> loaded = LoadCheckpoint(folder);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_TRUE(loaded->checkpoint.slices.empty());
  const std::vector<NamedTensor>& model =
      loaded->checkpoint.tensors.at("model");
  ASSERT_EQ(model.size(), 3);
  EXPECT_EQ(model[0].name, "bias");
  EXPECT_EQ(model[1].name, "nothing");
  EXPECT_EQ(model[1].tensor.sizes(), (std::vector<int64_t>{0, 2}));
  EXPECT_TRUE(model[2].tensor.equal(Weight()));
}

TEST(SliceFilesTest, ANodeOfItsOwnWouldHaveNoCompleteCheckpoint) {
  const std::string folder = TestFolder();
  for (const absl::Status& saved :
       SaveTogether({folder + "/a", folder + "/b"})) {
    EXPECT_THAT(std::string(saved.message()), HasSubstr("save_per_node"));
  }
}

}  // namespace
}  // namespace trainyard
