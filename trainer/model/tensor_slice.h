// TensorSlice is a range of a tensor's elements, in the order of its rows: the
// part of a parameter, or of its state, that one of several ranks holds.
//
//   const TensorSlice slice = {"weight", SliceOf(weight, 4, 2), {3, 2}, 4};
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_MODEL_TENSOR_SLICE_H_
#define TRAINYARD_TRAINER_MODEL_TENSOR_SLICE_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard {

struct TensorSlice {
  std::string name;
  // The elements, in one dimension. May be empty.
  at::Tensor values;
  // The shape of the whole tensor.
  std::vector<int64_t> sizes;
  // The place of the first element.
  int64_t begin = 0;
};

// Returns `count` elements from `begin` on, in one dimension. They share the
// memory of the tensor if it is contiguous.
inline at::Tensor SliceOf(const at::Tensor& whole, int64_t begin,
                          int64_t count) {
  return whole.reshape({-1}).narrow(0, begin, count);
}

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_MODEL_TENSOR_SLICE_H_
