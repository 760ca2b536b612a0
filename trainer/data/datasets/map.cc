#include "trainer/data/datasets/map.h"

#include <c10/util/Exception.h>

#include <memory>

namespace trainyard {
namespace {

class Mapped final : public Dataset {
 public:
  Mapped(DatasetPtr data, AnyBatchFunction function, uint64_t seed,
         bool wants_random)
      : data_(std::move(data)),
        function_(std::move(function)),
        seed_(seed),
        wants_random_(wants_random) {
    TORCH_CHECK_VALUE(data_ != nullptr, "MapBatches: the dataset is null");
  }

  int64_t size() const override { return data_->size(); }

  AnyBatch Gather(const at::Tensor& indices) const override {
    return GatherIn(0, indices);
  }

  AnyBatch GatherIn(int64_t epoch, const at::Tensor& indices) const override {
    BatchRandom random;
    if (wants_random_) random = BatchRandomOf(indices, seed_, epoch);
    return function_(data_->GatherIn(epoch, indices), random);
  }

 private:
  DatasetPtr data_;
  AnyBatchFunction function_;
  uint64_t seed_;
  bool wants_random_;
};

}  // namespace

DatasetPtr MapAnyBatches(DatasetPtr data, AnyBatchFunction function,
                         uint64_t seed, bool wants_random) {
  return std::make_shared<const Mapped>(std::move(data), std::move(function),
                                        seed, wants_random);
}

}  // namespace trainyard
