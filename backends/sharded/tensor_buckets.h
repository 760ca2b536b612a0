// GroupIntoBuckets says which tensors are exchanged together: neighbours of one
// type on one device, of about a given size in all.
//
//   const auto buckets = GroupIntoBuckets(tensors, /*first_bytes=*/1 << 20,
//                                         /*bytes=*/25 << 20);
//
// Thread-safe.
#ifndef TRAINYARD_BACKENDS_SHARDED_TENSOR_BUCKETS_H_
#define TRAINYARD_BACKENDS_SHARDED_TENSOR_BUCKETS_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <vector>

namespace trainyard {

// Returns the indices of the tensors, in order. A bucket is larger than its
// limit only if it has a single tensor. `first_bytes` limits the first one.
std::vector<std::vector<size_t>> GroupIntoBuckets(
    const std::vector<at::Tensor>& tensors, size_t first_bytes, size_t bytes);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_SHARDED_TENSOR_BUCKETS_H_
