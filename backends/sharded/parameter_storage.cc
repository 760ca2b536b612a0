#include "backends/sharded/parameter_storage.h"

#include <ATen/ops/empty.h>
#include <c10/core/StorageImpl.h>

#include <utility>

namespace trainyard {
namespace {

c10::StorageImpl& StorageOf(const at::Tensor& tensor) {
  return *tensor.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl();
}

}  // namespace

bool OwnsStorage(const at::Tensor& tensor) {
  return tensor.is_contiguous() && tensor.storage_offset() == 0 &&
         StorageOf(tensor).nbytes() == tensor.nbytes();
}

void ReleaseStorage(const at::Tensor& tensor, const std::string& message) {
  c10::StorageImpl& storage = StorageOf(tensor);
  storage.set_data_ptr_noswap(at::DataPtr(nullptr, storage.device()));
  storage.set_nbytes(0);
  storage.release_data_and_set_meta_custom_data_ptr_error_msg_(message);
}

void RestoreStorage(const at::Tensor& tensor) {
  c10::StorageImpl& storage = StorageOf(tensor);
  at::Tensor fresh =
      at::empty({tensor.numel()}, tensor.options().requires_grad(false));
  storage.set_data_ptr_noswap(
      std::move(StorageOf(fresh)._mutable_data_ptr_no_checks()));
  storage.set_nbytes(static_cast<size_t>(tensor.nbytes()));
  storage.clear_data_ptr_access_error_msg_();
}

size_t StorageBytes(const at::Tensor& tensor) {
  return StorageOf(tensor).nbytes();
}

}  // namespace trainyard
