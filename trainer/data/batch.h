// A batch is any struct that lists its tensors. Moving to a device, gathering
// and counting derive from that one line:
//
//   struct ImageBatch {
//     at::Tensor image, label;
//     auto tensors() { return std::tie(image, label); }
//   };
//
// AnyBatch holds one of any type, so that the trainer is not a template. Copies
// share the tensors.
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_DATA_BATCH_H_
#define TRAINYARD_TRAINER_DATA_BATCH_H_

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <typeinfo>
#include <utility>

namespace trainyard {

template <class B>
concept BatchType = std::copy_constructible<B> && requires(B batch) {
  std::tuple_size<decltype(batch.tensors())>::value;
};

// Calls `function` with a reference to each tensor of the batch, in order.
template <BatchType B, class Function>
void ForEachTensor(B& batch, Function&& function) {
  std::apply([&](auto&... tensor) { (function(tensor), ...); },
             batch.tensors());
}

// Input and target, the ready batch of supervised training.
struct Example {
  at::Tensor input;
  at::Tensor target;
  auto tensors() { return std::tie(input, target); }
};

class AnyBatch {
 public:
  template <BatchType B>
  explicit AnyBatch(B batch)
      : holder_(std::make_shared<const Holder<B>>(std::move(batch))) {}

  // Records in the batch: rows of its first tensor.
  int64_t size() const { return holder_->size; }

  // The batch itself. Throws, naming both types, if it is of another one.
  template <BatchType B>
  const B& As() const {
    TORCH_CHECK_TYPE(
        holder_->type == typeid(B), "the dataset gives batches of type ",
        TypeName(holder_->type), ", but the task takes ", TypeName(typeid(B)));
    return static_cast<const Holder<B>&>(*holder_).batch;
  }

  // The same batch with its tensors on `device`; itself if they are there.
  AnyBatch To(at::Device device) const {
    return holder_->device == device ? *this : holder_->To(device);
  }

 private:
  struct Base {
    Base(const std::type_info& batch_type, int64_t batch_size,
         at::Device batch_device)
        : type(batch_type), size(batch_size), device(batch_device) {}
    virtual ~Base() = default;
    virtual AnyBatch To(at::Device device) const = 0;
    const std::type_info& type;
    const int64_t size;
    const at::Device device;
  };

  template <class B>
  struct Holder final : Base {
    explicit Holder(B value)
        : Base(typeid(B), FirstTensor(value).size(0),
               FirstTensor(value).device()),
          batch(std::move(value)) {}
    AnyBatch To(at::Device target) const override {
      B moved = batch;
      ForEachTensor(moved, [&](at::Tensor& tensor) {
        tensor = tensor.to(target, /*non_blocking=*/true);
      });
      return AnyBatch(std::move(moved));
    }
    const B batch;
  };

  template <class B>
  static const at::Tensor& FirstTensor(B& batch) {
    const at::Tensor& first = std::get<0>(batch.tensors());
    TORCH_CHECK_VALUE(first.defined() && first.dim() >= 1,
                      "the first tensor of a batch must have a row per record");
    return first;
  }

  static std::string TypeName(const std::type_info& type);

  std::shared_ptr<const Base> holder_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_BATCH_H_
