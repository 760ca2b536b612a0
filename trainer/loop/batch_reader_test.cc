#include "trainer/loop/batch_reader.h"

#include <ATen/ops/full.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "backends/collectives.h"
#include "trainer/data/item_dataset.h"
#include "trainer/data/loader.h"
#include "trainer/data/sampler.h"
#include "trainer/data/streaming/stream_loader.h"
#include "trainer/data/testing/counting_stream.h"

namespace trainyard {
namespace {

using Numbers = std::vector<int64_t>;

std::unique_ptr<BatchSource> Stream(int64_t samples) {
  return std::make_unique<StreamLoader<at::Tensor>>(
      [samples](int64_t) { return std::make_unique<CountingStream>(samples); },
      LoaderOptions{.batch_size = 2});
}

std::unique_ptr<BatchSource> Known(int64_t samples) {
  return std::make_unique<Loader>(
      MakeItemDataset<at::Tensor>(
          samples, [](int64_t index) { return at::full({}, index); }),
      std::make_shared<SequentialSampler>(samples),
      LoaderOptions{.batch_size = 2});
}

int64_t First(const AnyBatch& batch) {
  return batch.As<at::Tensor>()[0].item<int64_t>();
}

class BatchReaderTest : public ::testing::Test {
 protected:
  const std::unique_ptr<Collectives> alone_ = MakeLocalCollectives();
};

TEST_F(BatchReaderTest, KnowsTheLastBatch) {
  for (const auto& make : {Stream, Known}) {
    BatchReader reader(make(5), *alone_);
    for (int64_t epoch = 0; epoch < 2; ++epoch) {
      reader.StartEpoch(epoch);
      Numbers firsts, positions;
      std::vector<bool> more;
      while (reader.HasNext()) {
        firsts.push_back(First(reader.Next()));
        more.push_back(reader.HasNext());
        positions.push_back(reader.position());
      }
      EXPECT_EQ(firsts, (Numbers{0, 2, 4}));
      EXPECT_EQ(more, (std::vector<bool>{true, true, false}));
      EXPECT_EQ(positions, (Numbers{2, 4, 5})) << "without the one in advance";
      EXPECT_THROW(reader.Next(), c10::ValueError);
    }
  }
}

TEST_F(BatchReaderTest, StateExcludesTheBatchInAdvance) {
  for (const auto& make : {Stream, Known}) {
    BatchReader reader(make(9), *alone_);
    reader.StartEpoch(3);
    reader.Next();
    reader.Next();
    EXPECT_TRUE(reader.HasNext());
    BatchReader resumed(make(9), *alone_);
    EXPECT_EQ(resumed.HasNext(), false) << "no epoch was started";
    resumed.LoadState(reader.SaveState());
    EXPECT_EQ(resumed.position(), 4);
    EXPECT_EQ(First(resumed.Next()), 4);
  }
}

class FailingStream final : public ItemStream<at::Tensor> {
 public:
  std::optional<at::Tensor> Next() override {
    if (next_ == 2) throw std::runtime_error("torn page");
    return at::full({}, next_++);
  }

 private:
  int64_t next_ = 0;
};

TEST_F(BatchReaderTest, ErrorIsThrownAtItsTurn) {
  BatchReader reader(
      std::make_unique<StreamLoader<at::Tensor>>(
          [](int64_t) { return std::make_unique<FailingStream>(); },
          LoaderOptions{}),
      *alone_);
  reader.StartEpoch(0);
  reader.Next();
  reader.Next();
  EXPECT_TRUE(reader.HasNext()) << "nothing is thrown yet";
  EXPECT_THROW(reader.Next(), std::runtime_error);
}

TEST_F(BatchReaderTest, RejectsAMissingSource) {
  EXPECT_THROW(BatchReader(nullptr, *alone_), c10::ValueError);
}

TEST_F(BatchReaderTest, HeaderExample) {
  std::unique_ptr<BatchSource> source = Stream(5);
  int64_t used = 0;
  const auto Use = [&](const AnyBatch& batch) { used += batch.size(); };
  struct {
    Collectives& collectives() { return *own; }
    std::unique_ptr<Collectives> own = MakeLocalCollectives();
  } backend;
  BatchReader reader(std::move(source), backend.collectives());
  reader.StartEpoch(0);
  while (reader.HasNext()) Use(reader.Next());
  EXPECT_EQ(used, 5);
}

}  // namespace
}  // namespace trainyard
