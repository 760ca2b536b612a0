// What a person wants to know of a tensor's values, in a line.
//
//   DescribeTensor(weight);  // "Float [64, 3] min -0.1 max 0.1 mean 0.001 …"
//
// Thread-safe.
#ifndef TRAINYARD_TOOLS_INSPECT_TENSOR_STATISTICS_H_
#define TRAINYARD_TOOLS_INSPECT_TENSOR_STATISTICS_H_

#include <ATen/core/Tensor.h>

#include <string>

namespace trainyard {

// Type, shape, least, greatest, mean and deviation of its finite values, and
// how many are not.
std::string DescribeTensor(const at::Tensor& tensor);

// The greatest difference and how many elements differ, or the two shapes.
std::string DescribeDifference(const at::Tensor& one, const at::Tensor& other);

// Bit for bit, with type and shape.
bool SameTensors(const at::Tensor& one, const at::Tensor& other);

// Of type, shape and bytes, in hexadecimal digits.
std::string TensorCrc(const at::Tensor& tensor);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_INSPECT_TENSOR_STATISTICS_H_
