#include "backends/testing/standin/recorded.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/Storage.h>

#include <optional>
#include <utility>

#include "backends/testing/standin/runtime.h"

namespace trainyard::standin {
namespace {

at::Tensor Copied(const at::Tensor& tensor) {
  const at::AutoDispatchBelowADInplaceOrView below;
  return tensor.clone();
}

// On the same memory, without a share in it.
at::Tensor Unowned(const at::Tensor& tensor) {
  const c10::Storage& shared = tensor.storage();
  c10::Storage storage(
      c10::Storage::use_byte_size_t(), shared.nbytes(),
      c10::DataPtr(const_cast<void*>(shared.data()), tensor.device()),
      /*allocator=*/nullptr, /*resizable=*/false);
  at::Tensor unowned = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage),
      c10::DispatchKeySet(tensor.is_cpu() ? c10::DispatchKey::CPU
                                          : c10::DispatchKey::PrivateUse1),
      tensor.dtype());
  unowned.unsafeGetTensorImpl()->set_sizes_and_strides(
      tensor.sizes(), tensor.strides(), tensor.storage_offset());
  return unowned;
}

c10::IValue RecordedValue(const c10::IValue& value) {
  if (value.isTensor()) return Recorded(value.toTensor());
  if (value.isTensorList())
    return c10::IValue(Recorded(value.toTensorVector()));
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> list;
    for (const std::optional<at::Tensor> tensor :
         value.toOptionalTensorList()) {
      list.push_back(tensor ? std::optional(Recorded(*tensor)) : std::nullopt);
    }
    return list;
  }
  return value;
}

}  // namespace

at::Tensor Recorded(const at::Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  const bool keeps_address =
      !tensor.is_cpu() || Runtime::Get().IsPinned(tensor.storage().data());
  at::Tensor recorded = keeps_address ? Unowned(tensor) : Copied(tensor);
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
    recorded.unsafeGetTensorImpl()->set_wrapped_number(true);
  }
  return recorded;
}

std::vector<at::Tensor> Recorded(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> recorded;
  for (const at::Tensor& tensor : tensors) recorded.push_back(Recorded(tensor));
  return recorded;
}

std::vector<c10::IValue> Recorded(const std::vector<c10::IValue>& values) {
  std::vector<c10::IValue> recorded;
  for (const c10::IValue& value : values) {
    recorded.push_back(RecordedValue(value));
  }
  return recorded;
}

}  // namespace trainyard::standin
