// ReleaseStorage frees the memory of a tensor that stays the same object:
// references to it, and views that autograd has saved, are valid again after
// RestoreStorage. Neither counts as a modification of the tensor.
//
//   ReleaseStorage(weight, "weight is sharded");
//   weight.sum();            // throws c10::Error with this message
//   RestoreStorage(weight);  // uninitialised
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_SHARDED_PARAMETER_STORAGE_H_
#define TRAINYARD_BACKENDS_SHARDED_PARAMETER_STORAGE_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <string>

namespace trainyard {

// Whether the tensor has memory to itself: all of its storage.
bool OwnsStorage(const at::Tensor& tensor);

// Frees the memory. Whoever reads or writes it gets `message`. REQUIRES:
// OwnsStorage(tensor).
void ReleaseStorage(const at::Tensor& tensor, const std::string& message);

// Allocates the memory again. REQUIRES: ReleaseStorage(tensor).
void RestoreStorage(const at::Tensor& tensor);

// The bytes of memory that the tensor has now: 0 when it was released.
size_t StorageBytes(const at::Tensor& tensor);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_SHARDED_PARAMETER_STORAGE_H_
