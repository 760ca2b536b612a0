// DescribeTensor prints a tensor's type, shape and statistics on one line.
//
//   const std::string text = DescribeTensor(weight);
//   // Float [64, 3] min -0.1 max 0.1 mean 0.001 deviation 0.05
//
// Thread-safe.
#ifndef TRAINYARD_TOOLS_INSPECT_TENSOR_STATISTICS_H_
#define TRAINYARD_TOOLS_INSPECT_TENSOR_STATISTICS_H_

#include <ATen/core/Tensor.h>

#include <string>

namespace trainyard {

// Type, shape, minimum, maximum, mean and standard deviation of the finite
// values, and the number of values that are not finite.
std::string DescribeTensor(const at::Tensor& tensor);

// The largest difference and the number of different elements, or both shapes.
std::string DescribeDifference(const at::Tensor& one, const at::Tensor& other);

// Whether type, shape and all bits are equal.
bool SameTensors(const at::Tensor& one, const at::Tensor& other);

// CRC32C of type, shape and bytes, in hexadecimal.
std::string TensorCrc(const at::Tensor& tensor);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_INSPECT_TENSOR_STATISTICS_H_
