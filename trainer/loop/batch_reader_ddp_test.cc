// Sources of unknown length that end at different batches on different ranks.
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "backends/make_backend.h"
#include "trainer/data/batch_source.h"
#include "trainer/loop/batch_reader.h"

namespace trainyard {
namespace {

class Endless final : public BatchSource {
 public:
  explicit Endless(int64_t end) : end_(end) {}
  std::optional<AnyBatch> Next() override {
    if (position_ >= end_) return std::nullopt;
    ++position_;
    return AnyBatch(at::ones({1}));
  }
  int64_t position() const override { return position_; }

 private:
  void Start(int64_t, int64_t first_sample) override {
    position_ = first_sample;
  }
  int64_t end_;
  int64_t position_ = 0;
};

TEST(BatchReaderDdpTest, EpochEndsOnAllRanksAtOnce) {
  const auto backend = MakeBackend("ddp");
  for (const int64_t end : {0, 1, 4}) {
    // The last rank has the fewest batches.
    const int64_t more = backend->num_processes() - 1 - backend->rank();
    BatchReader reader(std::make_unique<Endless>(end + 3 * more),
                       backend->collectives());
    for (int64_t epoch = 0; epoch < 2; ++epoch) {
      reader.StartEpoch(epoch);
      int64_t batches = 0;
      while (reader.HasNext()) {
        reader.Next();
        ++batches;
      }
      EXPECT_EQ(batches, end);
      EXPECT_EQ(reader.position(), end);
    }
  }
}

}  // namespace
}  // namespace trainyard
