#include "trainer/data/datasets/subset.h"

#include <c10/util/Exception.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "trainer/data/sampler.h"

namespace trainyard {
namespace {

class Subset final : public Dataset {
 public:
  Subset(DatasetPtr data, at::Tensor indices)
      : data_(std::move(data)), indices_(std::move(indices)) {}
  int64_t size() const override { return indices_.size(0); }
  AnyBatch Gather(const at::Tensor& indices) const override {
    return data_->Gather(indices_.index_select(0, indices));
  }
  AnyBatch GatherIn(int64_t epoch, const at::Tensor& indices) const override {
    return data_->GatherIn(epoch, indices_.index_select(0, indices));
  }

 private:
  DatasetPtr data_;
  at::Tensor indices_;
};

}  // namespace

DatasetPtr SubsetOf(DatasetPtr data, const at::Tensor& indices) {
  TORCH_CHECK_VALUE(data != nullptr, "SubsetOf: the dataset is null");
  TORCH_CHECK_VALUE(
      indices.defined() && indices.dim() == 1 && indices.size(0) > 0 &&
          indices.scalar_type() == at::kLong,
      "SubsetOf: indices must be a 1-dimensional int64 tensor, not empty");
  const int64_t least = indices.min().item<int64_t>();
  const int64_t most = indices.max().item<int64_t>();
  TORCH_CHECK_VALUE(least >= 0 && most < data->size(), "SubsetOf: index ",
                    least < 0 ? least : most,
                    " is outside of a dataset of size ", data->size());
  return std::make_shared<const Subset>(std::move(data),
                                        indices.cpu().contiguous());
}

std::vector<DatasetPtr> RandomSplit(const DatasetPtr& data,
                                    const std::vector<int64_t>& sizes,
                                    uint64_t seed) {
  TORCH_CHECK_VALUE(data != nullptr, "RandomSplit: the dataset is null");
  const int64_t sum = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
  TORCH_CHECK_VALUE(sum == data->size(), "RandomSplit: the sizes add up to ",
                    sum, ", but the dataset has ", data->size(), " samples");
  const at::Tensor order = ShuffledSampler(data->size(), seed).Order(0);
  std::vector<DatasetPtr> parts;
  int64_t begin = 0;
  for (const int64_t size : sizes) {
    TORCH_CHECK_VALUE(size > 0, "RandomSplit: a size is ", size,
                      "; it must be at least 1");
    parts.push_back(SubsetOf(data, order.narrow(0, begin, size)));
    begin += size;
  }
  return parts;
}

std::vector<int64_t> SplitSizes(int64_t total,
                                const std::vector<double>& fractions) {
  std::vector<int64_t> sizes;
  double sum = 0;
  int64_t before = 0;
  for (const double fraction : fractions) {
    TORCH_CHECK_VALUE(fraction > 0, "SplitSizes: a fraction is ", fraction,
                      "; it must be above 0");
    sum += fraction;
    // Rounds each boundary, not each size, so that the sum is `total`.
    const auto end =
        static_cast<int64_t>(std::llround(sum * static_cast<double>(total)));
    sizes.push_back(end - before);
    before = end;
  }
  TORCH_CHECK_VALUE(std::abs(sum - 1) < 1e-6,
                    "SplitSizes: the fractions add up to ", sum, ", not to 1");
  return sizes;
}

}  // namespace trainyard
