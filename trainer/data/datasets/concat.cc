#include "trainer/data/datasets/concat.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>

#include <iterator>
#include <memory>
#include <utility>

namespace trainyard {
namespace {

class Concatenation final : public Dataset {
 public:
  explicit Concatenation(std::vector<DatasetPtr> parts)
      : parts_(std::move(parts)) {
    TORCH_CHECK_VALUE(!parts_.empty(), "Concat: parts is empty");
    for (const DatasetPtr& part : parts_) {
      TORCH_CHECK_VALUE(part != nullptr, "Concat: a dataset is null");
      begins_.push_back(size_);
      size_ += part->size();
      ends_.push_back(size_);
    }
  }

  int64_t size() const override { return size_; }

  AnyBatch Gather(const at::Tensor& indices) const override {
    return GatherIn(0, indices);
  }

  AnyBatch GatherIn(int64_t epoch, const at::Tensor& indices) const override {
    const at::Tensor part = at::searchsorted(at::tensor(ends_), indices,
                                             /*out_int32=*/false,
                                             /*right=*/true);
    std::vector<AnyBatch> batches;
    std::vector<at::Tensor> rows;
    for (size_t i = 0; i < parts_.size(); ++i) {
      at::Tensor here = part.eq(static_cast<int64_t>(i)).nonzero().squeeze(1);
      if (here.size(0) == 0) continue;
      batches.push_back(parts_[i]->GatherIn(
          epoch, indices.index_select(0, here).sub_(begins_[i])));
      rows.push_back(std::move(here));
    }
    TORCH_CHECK_INDEX(
        !batches.empty() && part.max().item<int64_t>() < std::ssize(parts_),
        "Concat: an index is outside of a dataset of size ", size_);
    const AnyBatch by_part = ConcatBatches(batches);
    if (batches.size() == 1) return by_part;
    // From the order of the parts back to the requested order.
    const at::Tensor back = at::cat(rows).argsort();
    return by_part.Map([&](const at::Tensor& tensor) {
      TORCH_CHECK_VALUE(
          tensor.size(0) == back.size(0), "Concat: a tensor has ",
          tensor.size(0), " rows for ", back.size(0),
          " samples; datasets can be joined only if each sample is one row");
      return tensor.index_select(0, back);
    });
  }

 private:
  std::vector<DatasetPtr> parts_;
  std::vector<int64_t> begins_, ends_;
  int64_t size_ = 0;
};

}  // namespace

DatasetPtr Concat(std::vector<DatasetPtr> parts) {
  return std::make_shared<const Concatenation>(std::move(parts));
}

}  // namespace trainyard
