// TensorDataset keeps a whole dataset in memory as one batch and reads samples
// with one index_select per tensor. A transform, if given, is applied to each
// batch: data can stay small (bytes) and become floats batch by batch.
//
//   const DatasetPtr data =
//       MakeTensorDataset(Example{images, labels}, [](Example e) {
//         return Example{e.input.to(at::kFloat).div_(255), e.target};
//       });
//
// Thread-safe if the transform is.
#ifndef TRAINYARD_TRAINER_DATA_TENSOR_DATASET_H_
#define TRAINYARD_TRAINER_DATA_TENSOR_DATASET_H_

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "trainer/data/batch.h"
#include "trainer/data/dataset.h"

namespace trainyard {

template <BatchType B>
class TensorDataset final : public Dataset {
 public:
  using Transform = std::function<B(B)>;

  // REQUIRES: all tensors have the same number of rows, at least one.
  explicit TensorDataset(B all, Transform transform = nullptr)
      : all_(std::move(all)),
        transform_(std::move(transform)),
        size_(CheckedRows(all_)) {}

  int64_t size() const override { return size_; }

  AnyBatch Gather(const at::Tensor& indices) const override {
    B batch = all_;
    ForEachTensor(batch, [&](at::Tensor& tensor) {
      tensor = tensor.index_select(0, indices);
    });
    return AnyBatch(transform_ ? transform_(std::move(batch))
                               : std::move(batch));
  }

 private:
  static int64_t CheckedRows(B& all) {
    int64_t rows = -1;
    ForEachTensor(all, [&](const at::Tensor& tensor) {
      TORCH_CHECK_VALUE(
          tensor.defined() && tensor.dim() >= 1,
          "TensorDataset: every tensor must have a row per sample");
      TORCH_CHECK_VALUE(rows < 0 || tensor.size(0) == rows,
                        "TensorDataset: tensors have ", rows, " and ",
                        tensor.size(0),
                        " rows; each sample needs a row in every tensor");
      rows = tensor.size(0);
    });
    TORCH_CHECK_VALUE(rows > 0, "TensorDataset: there are no samples");
    return rows;
  }

  B all_;
  Transform transform_;
  int64_t size_;
};

template <BatchType B>
DatasetPtr MakeTensorDataset(
    B all, typename TensorDataset<B>::Transform transform = nullptr) {
  return std::make_shared<const TensorDataset<B>>(std::move(all),
                                                  std::move(transform));
}

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_TENSOR_DATASET_H_
