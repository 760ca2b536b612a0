// The numbers 0, 1, …, end - 1 as a stream, for tests; endless if `end` is
// negative.
#ifndef TRAINYARD_TRAINER_DATA_TESTING_COUNTING_STREAM_H_
#define TRAINYARD_TRAINER_DATA_TESTING_COUNTING_STREAM_H_

#include <ATen/core/Tensor.h>
#include <ATen/ops/full.h>

#include <cstdint>
#include <optional>

#include "trainer/data/streaming/item_stream.h"

namespace trainyard {

class CountingStream final : public ItemStream<at::Tensor> {
 public:
  explicit CountingStream(int64_t end) : end_(end) {}
  std::optional<at::Tensor> Next() override {
    if (next_ == end_) return std::nullopt;
    return at::full({}, next_++);
  }

 private:
  int64_t next_ = 0;
  int64_t end_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_TESTING_COUNTING_STREAM_H_
