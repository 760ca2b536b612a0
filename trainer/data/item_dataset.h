// ItemDataset is the base of datasets that read one sample at a time (decode a
// file, query a database, compute it). Items are stacked to a batch, or put
// together by a collate function, which may return another batch type.
//
//   class Squares final : public ItemDataset<Example> {
//     int64_t size() const override { return 100; }
//     Example Get(int64_t i) const override {
//       return {at::full({1}, i), at::full({1}, i * i)};
//     }
//   };
//
// or, in one expression:
//
//   MakeItemDataset<Example>(100, [](int64_t i) {
//     return Example{at::full({1}, i), at::full({1}, i * i)};
//   });
//
// If Get throws, the caller receives a SampleError with the index.
//
// Thread-safe if Get is: the workers of a loader call it from several threads.
#ifndef TRAINYARD_TRAINER_DATA_ITEM_DATASET_H_
#define TRAINYARD_TRAINER_DATA_ITEM_DATASET_H_

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "trainer/data/batch.h"
#include "trainer/data/collate.h"
#include "trainer/data/dataset.h"
#include "trainer/data/sample_error.h"

namespace trainyard {

template <BatchType Item>
class ItemDataset : public Dataset {
 public:
  virtual Item Get(int64_t index) const = 0;

  // Like Get, in the given epoch; see Dataset::GatherIn.
  virtual Item GetIn(int64_t /*epoch*/, int64_t index) const {
    return Get(index);
  }

  AnyBatch Gather(const at::Tensor& indices) const final {
    return GatherIn(0, indices);
  }

  AnyBatch GatherIn(int64_t epoch, const at::Tensor& indices) const final {
    std::vector<Item> items;
    items.reserve(static_cast<size_t>(indices.size(0)));
    ForEachSample(indices,
                  [&](int64_t index) { items.push_back(GetIn(epoch, index)); });
    return Collate(std::move(items));
  }

 protected:
  virtual AnyBatch Collate(std::vector<Item> items) const {
    return AnyBatch(StackItems(std::move(items)));
  }
};

template <BatchType Item>
class FunctionDataset final : public ItemDataset<Item> {
 public:
  using GetFunction = std::function<Item(int64_t index)>;
  using CollateFunction = std::function<AnyBatch(std::vector<Item> items)>;

  FunctionDataset(int64_t size, GetFunction get, CollateFunction collate)
      : size_(size), get_(std::move(get)), collate_(std::move(collate)) {
    TORCH_CHECK_VALUE(size >= 0, "MakeItemDataset: size is ", size);
    TORCH_CHECK_VALUE(get_ != nullptr, "MakeItemDataset: get is empty");
  }

  int64_t size() const override { return size_; }
  Item Get(int64_t index) const override { return get_(index); }

 protected:
  AnyBatch Collate(std::vector<Item> items) const override {
    return collate_ ? collate_(std::move(items))
                    : ItemDataset<Item>::Collate(std::move(items));
  }

 private:
  int64_t size_;
  GetFunction get_;
  CollateFunction collate_;
};

template <BatchType Item>
DatasetPtr MakeItemDataset(
    int64_t size, typename FunctionDataset<Item>::GetFunction get,
    typename FunctionDataset<Item>::CollateFunction collate = nullptr) {
  return std::make_shared<const FunctionDataset<Item>>(size, std::move(get),
                                                       std::move(collate));
}

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_ITEM_DATASET_H_
