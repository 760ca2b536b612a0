// SampleError names the sample that could not be read. The original exception
// is nested (std::rethrow_if_nested).
//
//   try {
//     loader.Next();
//   } catch (const SampleError& e) {
//     skipped.push_back(e.index());
//   }
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_DATA_SAMPLE_ERROR_H_
#define TRAINYARD_TRAINER_DATA_SAMPLE_ERROR_H_

#include <ATen/core/Tensor.h>
#include <c10/util/FunctionRef.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace trainyard {

class SampleError : public std::runtime_error {
 public:
  SampleError(int64_t index, const std::string& message);
  int64_t index() const { return index_; }

 private:
  int64_t index_;
};

// Calls `function` for each of `indices`, a 1-dimensional int64 tensor on the
// CPU. Rethrows its exceptions as SampleError.
void ForEachSample(const at::Tensor& indices,
                   c10::function_ref<void(int64_t index)> function);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_SAMPLE_ERROR_H_
