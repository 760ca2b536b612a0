// A batch is any struct that lists its tensors. Moving to a device, gathering,
// slicing and counting derive from that one line:
//
//   struct ImageBatch {
//     at::Tensor image, label;
//     auto tensors() { return std::tie(image, label); }
//   };
//
// The parts may themselves be batches, vectors or maps of tensors; a
// std::map<std::string, at::Tensor> is a batch as it is. Records are counted by
// the rows of the first tensor, or by the struct itself, if it has
// `int64_t records() const`.
//
// AnyBatch holds one of any type, so that the trainer is not a template. Copies
// share the tensors.
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_DATA_BATCH_H_
#define TRAINYARD_TRAINER_DATA_BATCH_H_

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>
#include <c10/util/FunctionRef.h>

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <typeinfo>
#include <utility>
#include <vector>

#include "trainer/data/tensor_tree.h"

namespace trainyard {

template <class B>
concept BatchType = std::copy_constructible<B> && TensorTree<B>;

template <class B>
concept CountsRecords = requires(const B& batch) {
  { batch.records() } -> std::convertible_to<int64_t>;
};

// Input and target, the ready batch of supervised training.
struct Example {
  at::Tensor input;
  at::Tensor target;
  auto tensors() { return std::tie(input, target); }
};

class AnyBatch {
 public:
  // Of any batch but itself: copies of an AnyBatch are not wrapped again.
  template <class B>
    requires(!std::same_as<B, AnyBatch> && BatchType<B>)
  explicit AnyBatch(B batch)
      : holder_(std::make_shared<const Holder<B>>(std::move(batch))),
        size_(holder_->size) {}

  // Records in the batch. Padding does not count.
  int64_t size() const { return size_; }

  // Rows at the end that only fill the batch up: they repeat samples that are
  // counted elsewhere, and belong in no metric.
  int64_t padding() const { return padding_; }

  // The batch itself. Throws, naming both types, if it is of another one.
  template <BatchType B>
  const B& As() const {
    TORCH_CHECK_TYPE(
        holder_->type == typeid(B), "the dataset gives batches of type ",
        TypeName(holder_->type), ", but the task takes ", TypeName(typeid(B)));
    return static_cast<const Holder<B>&>(*holder_).batch;
  }

  // Its tensors, in ForEachTensor's order.
  std::vector<at::Tensor> tensors() const { return holder_->Tensors(); }

  // The same batch of other tensors: `function` of each that is defined.
  using TensorFunction = c10::function_ref<at::Tensor(const at::Tensor&)>;
  AnyBatch Map(TensorFunction function) const;

  // The same batch with its tensors on `device`; itself if they are there.
  AnyBatch To(at::Device device) const;

  // Rows `begin` up to `end` of every tensor. Throws if they have different
  // numbers of rows.
  AnyBatch Slice(int64_t begin, int64_t end) const;

  // The same batch, its last `rows` rows marked as padding; and without them.
  AnyBatch WithPadding(int64_t rows) const;
  AnyBatch WithoutPadding() const;

 private:
  friend AnyBatch ConcatBatches(const std::vector<AnyBatch>& batches);

  struct Base {
    Base(const std::type_info& batch_type, at::Tensor batch_first,
         int64_t batch_size)
        : type(batch_type), first(std::move(batch_first)), size(batch_size) {}
    virtual ~Base() = default;
    virtual std::vector<at::Tensor> Tensors() const = 0;
    virtual std::string Layout() const = 0;
    virtual AnyBatch Map(TensorFunction function) const = 0;
    const std::type_info& type;
    // May be undefined if the batch counts its records itself.
    const at::Tensor first;
    const int64_t size;
  };

  template <class B>
  struct Holder final : Base {
    explicit Holder(B value)
        : Base(typeid(B), FirstTensor(value), Records(value)),
          batch(std::move(value)) {}
    std::vector<at::Tensor> Tensors() const override {
      B copy = batch;
      std::vector<at::Tensor> all;
      ForEachTensor(copy, [&](at::Tensor& tensor) { all.push_back(tensor); });
      return all;
    }
    std::string Layout() const override {
      B copy = batch;
      std::string layout;
      AppendLayout(copy, layout);
      return layout;
    }
    AnyBatch Map(TensorFunction function) const override {
      B mapped = batch;
      ForEachTensor(mapped, [&](at::Tensor& tensor) {
        if (tensor.defined()) tensor = function(tensor);
      });
      return AnyBatch(std::move(mapped));
    }
    const B batch;
  };

  template <class B>
  static at::Tensor FirstTensor(B& batch) {
    at::Tensor first;
    ForEachTensor(batch, [&](const at::Tensor& tensor) {
      if (!first.defined()) first = tensor;
    });
    return first;
  }
  template <class B>
  static int64_t Records(B& batch) {
    if constexpr (CountsRecords<B>) {
      return std::as_const(batch).records();
    } else {
      return RowsOf(FirstTensor(batch));
    }
  }
  static int64_t RowsOf(const at::Tensor& first);
  static std::string TypeName(const std::type_info& type);

  std::shared_ptr<const Base> holder_;
  int64_t size_;
  int64_t padding_ = 0;
};

// The rows of several batches of one type, one after the other. Throws if they
// are of different types, have different tensors, or are padded.
// REQUIRES: at least one.
AnyBatch ConcatBatches(const std::vector<AnyBatch>& batches);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_BATCH_H_
