// What must hold for any number of ranks, workers, samples and any policy.
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

#include "trainer/data/item_dataset.h"
#include "trainer/data/loader.h"
#include "trainer/data/sample_random.h"
#include "trainer/data/sampler.h"

namespace trainyard {
namespace {

using Numbers = std::vector<int64_t>;

// Sample i is i + 1000 * (a random number of the sample and the epoch), to see
// that augmentation depends on nothing else either.
class Augmented final : public ItemDataset<at::Tensor> {
 public:
  explicit Augmented(int64_t size) : size_(size) {}
  int64_t size() const override { return size_; }
  at::Tensor Get(int64_t index) const override { return GetIn(0, index); }
  at::Tensor GetIn(int64_t epoch, int64_t index) const override {
    SampleRandom random(SampleKey(3, epoch, index));
    return at::full({}, index + 1000 * random.Below(1000), at::kLong);
  }

 private:
  int64_t size_;
};

Numbers RealRows(const AnyBatch& batch) {
  const at::Tensor rows = batch.WithoutPadding().As<at::Tensor>().contiguous();
  return {rows.data_ptr<int64_t>(), rows.data_ptr<int64_t>() + rows.numel()};
}

// All ranks of a job, stepping together.
class Job {
 public:
  Job(int64_t samples, LoaderOptions options) {
    const auto data = std::make_shared<const Augmented>(samples);
    const auto sampler = std::make_shared<ShuffledSampler>(samples, 7);
    for (options.rank = 0; options.rank < options.num_ranks; ++options.rank)
      ranks_.emplace_back(data, sampler, options);
  }

  void Start(int64_t epoch, int64_t first = 0) {
    for (Loader& rank : ranks_) rank.StartEpoch(epoch, first);
  }

  // Samples of up to `steps` steps; rows of a step stay together.
  Numbers Take(int64_t steps = 1 << 20) {
    Numbers taken;
    for (int64_t step = 0; step < steps; ++step) {
      size_t ended = 0;
      for (Loader& rank : ranks_) {
        const std::optional<AnyBatch> batch = rank.Next();
        if (!batch) {
          ++ended;
          continue;
        }
        const Numbers rows = RealRows(*batch);
        taken.insert(taken.end(), rows.begin(), rows.end());
      }
      EXPECT_TRUE(ended == 0 || ended == ranks_.size());
      if (ended > 0) break;
    }
    return taken;
  }

  int64_t position() const { return ranks_.front().position(); }

 private:
  std::deque<Loader> ranks_;
};

// The epoch as one rank without workers sees it.
Numbers Reference(int64_t samples, int64_t epoch) {
  Job job(samples, {.batch_size = 1});
  job.Start(epoch);
  return job.Take();
}

TEST(LoaderPropertyTest, EachSampleOnceForAnyRanksBatchWorkersAndPolicy) {
  for (const int64_t samples : {1, 7, 30, 31}) {
    const Numbers all = Reference(samples, 2);
    ASSERT_EQ(std::ssize(all), samples);
    for (const int64_t ranks : {1, 2, 3}) {
      for (const int64_t batch : {1, 3, 8}) {
        for (const int64_t workers : {0, 2}) {
          for (const LastBatch policy :
               {LastBatch::kUneven, LastBatch::kPad, LastBatch::kDrop}) {
            const int64_t step = batch * ranks;
            if (policy == LastBatch::kDrop && samples < step) continue;
            Job job(samples, {.batch_size = batch,
                              .last_batch = policy,
                              .num_ranks = ranks,
                              .num_workers = workers});
            job.Start(2);
            Numbers want = all;
            if (policy == LastBatch::kDrop)
              want.resize(static_cast<size_t>(samples / step * step));
            ASSERT_EQ(job.Take(), want)
                << samples << " samples, " << ranks << " ranks, batch " << batch
                << ", workers " << workers << ", policy "
                << static_cast<int>(policy);
          }
        }
      }
    }
  }
}

TEST(LoaderPropertyTest, ResumesAtAnyBatchIdentically) {
  const Numbers all = Reference(31, 1);
  for (const int64_t workers : {0, 2}) {
    const LoaderOptions options{
        .batch_size = 3, .num_ranks = 2, .num_workers = workers};
    for (int64_t steps = 0; steps <= 6; ++steps) {
      Job first(31, options);
      first.Start(1);
      Numbers taken = first.Take(steps);
      Job second(31, options);
      second.Start(1, first.position());
      const Numbers rest = second.Take();
      EXPECT_EQ(rest, first.Take()) << "what the first job would have done";
      taken.insert(taken.end(), rest.begin(), rest.end());
      EXPECT_EQ(taken, all);
    }
  }
}

TEST(LoaderPropertyTest, ChangingTheNumberOfRanksLosesAndRepeatsNothing) {
  for (const int64_t samples : {20, 31}) {
    const Numbers all = Reference(samples, 0);
    for (const LastBatch policy : {LastBatch::kUneven, LastBatch::kPad}) {
      for (int64_t first = 0; first < 4; ++first) {
        for (int64_t second = 0; second < 4; ++second) {
          Numbers taken;
          int64_t position = 0;
          for (const auto& [ranks, steps] :
               {std::pair<int64_t, int64_t>(1, first), {2, second}, {1, 99}}) {
            Job job(samples, {.batch_size = 4,
                              .last_batch = policy,
                              .num_ranks = ranks,
                              .num_workers = ranks - 1});
            job.Start(0, position);
            const Numbers part = job.Take(steps);
            taken.insert(taken.end(), part.begin(), part.end());
            position = job.position();
          }
          EXPECT_EQ(taken, all) << first << ", " << second;
          EXPECT_EQ(position, samples);
        }
      }
    }
  }
}

}  // namespace
}  // namespace trainyard
