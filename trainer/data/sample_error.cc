#include "trainer/data/sample_error.h"

#include <exception>

#include "trainer/error_message.h"

namespace trainyard {

SampleError::SampleError(int64_t index, const std::string& message)
    : std::runtime_error("sample " + std::to_string(index) + ": " + message),
      index_(index) {}

void ForEachSample(const at::Tensor& indices,
                   c10::function_ref<void(int64_t index)> function) {
  const at::Tensor contiguous = indices.contiguous();
  const int64_t* index = contiguous.const_data_ptr<int64_t>();
  const int64_t* const end = index + contiguous.numel();
  for (; index != end; ++index) {
    try {
      function(*index);
    } catch (const std::exception& error) {
      std::throw_with_nested(SampleError(*index, ErrorMessage(error)));
    } catch (...) {
      std::throw_with_nested(SampleError(*index, "an unknown exception"));
    }
  }
}

}  // namespace trainyard
