// FromTorchData makes a Dataset of any dataset of torch::data, with batches of
// type Example: data written for libtorch's loader works as it is, with an
// order that can be resumed.
//
//   const DatasetPtr data =
//       FromTorchData(torch::data::datasets::TensorDataset(images));
//
// Accepts datasets with get (one example) or get_batch (examples, or a batch
// that map(Stack<>()) has stacked). Without targets, Example::target stays
// undefined. Each thread works on its own copy, as in libtorch's loader.
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_DATA_DATASETS_TORCH_DATA_H_
#define TRAINYARD_TRAINER_DATA_DATASETS_TORCH_DATA_H_

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "trainer/data/batch.h"
#include "trainer/data/collate.h"
#include "trainer/data/dataset.h"
#include "trainer/data/sample_error.h"

namespace trainyard {

// Names no type of torch::data, so that this header does not include it.
template <class TorchDataset>
class TorchDataAdapter final : public Dataset {
 public:
  explicit TorchDataAdapter(TorchDataset dataset)
      : original_(std::move(dataset)) {
    const auto size = original_.size();
    TORCH_CHECK_VALUE(size.has_value(),
                      "FromTorchData: the dataset has no size()");
    size_ = static_cast<int64_t>(*size);
  }

  int64_t size() const override { return size_; }

  AnyBatch Gather(const at::Tensor& indices) const override {
    Lease dataset(*this);
    if constexpr (requires { dataset->get(size_t{0}); }) {
      std::vector<Example> items;
      ForEachSample(indices, [&](int64_t index) {
        items.push_back(Converted(dataset->get(static_cast<size_t>(index))));
      });
      return AnyBatch(StackItems(std::move(items)));
    } else {
      std::vector<size_t> wanted;
      ForEachSample(indices, [&](int64_t index) {
        wanted.push_back(static_cast<size_t>(index));
      });
      auto batch = dataset->get_batch(wanted);
      if constexpr (requires { batch.data; }) {
        return AnyBatch(Converted(std::move(batch)));
      } else {
        std::vector<Example> items;
        for (auto& example : batch) items.push_back(Converted(example));
        return AnyBatch(StackItems(std::move(items)));
      }
    }
  }

 private:
  // A copy of the dataset for the duration of one call.
  class Lease {
   public:
    explicit Lease(const TorchDataAdapter& owner) : owner_(owner) {
      const std::lock_guard lock(owner_.mutex_);
      if (owner_.idle_.empty()) {
        copy_ = std::make_unique<TorchDataset>(owner_.original_);
      } else {
        copy_ = std::move(owner_.idle_.back());
        owner_.idle_.pop_back();
      }
    }
    ~Lease() {
      const std::lock_guard lock(owner_.mutex_);
      owner_.idle_.push_back(std::move(copy_));
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    TorchDataset* operator->() { return copy_.get(); }

   private:
    const TorchDataAdapter& owner_;
    std::unique_ptr<TorchDataset> copy_;
  };

  template <class TorchExample>
  static Example Converted(TorchExample&& example) {
    if constexpr (requires { example.target.defined(); }) {
      return {example.data, example.target};
    } else {
      return {example.data, at::Tensor()};
    }
  }

  TorchDataset original_;
  int64_t size_ = 0;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<TorchDataset>> idle_;
};

template <class TorchDataset>
DatasetPtr FromTorchData(TorchDataset dataset) {
  return std::make_shared<const TorchDataAdapter<TorchDataset>>(
      std::move(dataset));
}

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_DATASETS_TORCH_DATA_H_
