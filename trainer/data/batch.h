// A batch is any struct that lists its tensors. Moving to a device, collecting
// samples, slicing and counting are derived from that one line:
//
//   struct ImageBatch {
//     at::Tensor image, label;
//     auto tensors() { return std::tie(image, label); }
//   };
//
// The parts may be batches, vectors or maps of tensors themselves; a
// std::map<std::string, at::Tensor> is a batch without any declaration. The
// number of records is the number of rows of the first tensor or, if the struct
// has `int64_t records() const`, what that returns.
//
// AnyBatch holds a batch of any type, so that the trainer is no template.
// Copies share the tensors.
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

// Input and target: the batch of supervised training.
struct Example {
  at::Tensor input;
  at::Tensor target;
  auto tensors() { return std::tie(input, target); }
};

class AnyBatch {
 public:
  // From any batch type. A copy of an AnyBatch is not wrapped again.
  template <class B>
    requires(!std::same_as<B, AnyBatch> && BatchType<B>)
  explicit AnyBatch(B batch)
      : holder_(std::make_shared<const Holder<B>>(std::move(batch))),
        size_(holder_->size) {}

  // Records in the batch, without padding.
  int64_t size() const { return size_; }

  // Rows at the end that only fill the batch. They repeat samples that are
  // counted elsewhere, so metrics must leave them out.
  int64_t padding() const { return padding_; }

  // The batch itself. Throws c10::TypeError with both names if its type is not
  // B.
  template <BatchType B>
  const B& As() const {
    TORCH_CHECK_TYPE(
        holder_->type == typeid(B), "the dataset gives batches of type ",
        TypeName(holder_->type), ", but the task takes ", TypeName(typeid(B)));
    return static_cast<const Holder<B>&>(*holder_).batch;
  }

  // Its tensors, in the order of ForEachTensor.
  std::vector<at::Tensor> tensors() const { return holder_->Tensors(); }

  // The tensors that vectors and maps in it have: see AppendLayout.
  std::string layout() const { return holder_->Layout(); }

  // A batch of the same type with `function` applied to each defined tensor.
  using TensorFunction = c10::function_ref<at::Tensor(const at::Tensor&)>;
  AnyBatch Map(TensorFunction function) const;

  // The same batch with its tensors on `device`; no copy if they are there.
  AnyBatch To(at::Device device) const;

  // The same batch with its CPU tensors in page-locked memory. REQUIRES: an
  // accelerator.
  AnyBatch PinMemory() const;

  // Rows [begin, end) of every tensor. Throws if the tensors have different
  // numbers of rows.
  AnyBatch Slice(int64_t begin, int64_t end) const;

  // The same batch with its last `rows` rows marked as padding, and the batch
  // without its padding.
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
    // May be undefined if the batch has records().
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

// The rows of several batches of one type in sequence. Throws if the batches
// differ in type or in their tensors, or if one is padded. REQUIRES: at least
// one batch.
AnyBatch ConcatBatches(const std::vector<AnyBatch>& batches);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_BATCH_H_
