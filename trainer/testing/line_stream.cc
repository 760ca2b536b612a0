#include "trainer/testing/line_stream.h"

#include <ATen/ops/full.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "trainer/data/batch.h"
#include "trainer/data/dataset.h"
#include "trainer/data/sample_random.h"
#include "trainer/data/streaming/item_stream.h"
#include "trainer/data/streaming/stream_loader.h"
#include "trainer/testing/line_rig.h"

namespace trainyard {
namespace {

class LineRecords final : public ItemStream<Example> {
 public:
  LineRecords(DatasetPtr data, int64_t size)
      : data_(std::move(data)), size_(size) {}
  std::optional<Example> Next() override {
    if (next_ == size_) return std::nullopt;
    const AnyBatch batch = data_->Gather(at::full({1}, next_++, at::kLong));
    const Example& row = batch.As<Example>();
    return Example{row.input[0], row.target[0]};
  }

 private:
  DatasetPtr data_;
  int64_t size_;
  int64_t next_ = 0;
};

}  // namespace

MakeSource LineStream(int64_t size) {
  // A dataset has at least one row; a stream may have none.
  return [data = LinePoints(std::max<int64_t>(size, 1)),
          size](const LoaderRequest& request) {
    return std::make_unique<StreamLoader<Example>>(
        [data, size, seed = request.seed](int64_t epoch) {
          return std::make_unique<ShuffledStream<Example>>(
              std::make_unique<LineRecords>(data, size), /*buffer=*/5,
              EpochKey(seed, epoch));
        },
        LoaderOptions{.batch_size = request.batch_size,
                      .last_batch = request.load.last_batch,
                      .rank = request.rank,
                      .num_ranks = request.num_ranks,
                      .num_workers = request.load.num_workers,
                      .prefetch = request.load.prefetch});
  };
}

}  // namespace trainyard
