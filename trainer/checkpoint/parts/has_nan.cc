#include "trainer/checkpoint/parts/has_nan.h"

#include <absl/strings/str_cat.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "trainer/io/quoted_name.h"

namespace trainyard {
namespace {

// `infinity` is the bits of infinity: a NaN has the same exponent and more.
template <class Bits>
bool AnyNan(const void* data, size_t bytes, Bits infinity) {
  constexpr Bits kNoSign = std::numeric_limits<Bits>::max() / 2;
  constexpr size_t kBlock = 4096;
  const auto* const bits = static_cast<const Bits*>(data);
  const size_t count = bytes / sizeof(Bits);
  for (size_t start = 0; start < count; start += kBlock) {
    const size_t end = std::min(start + kBlock, count);
    Bits largest = 0;  // no branch within a block: the compiler vectorises it
    for (size_t i = start; i < end; ++i) {
      largest = std::max<Bits>(largest, bits[i] & kNoSign);
    }
    if (largest > infinity) return true;
  }
  return false;
}

}  // namespace

bool HasNan(const at::Tensor& tensor) {
  const void* const data = tensor.const_data_ptr();
  const size_t bytes = tensor.nbytes();
  switch (c10::toRealValueType(tensor.scalar_type())) {
    case at::kDouble:
      return AnyNan<uint64_t>(data, bytes, 0x7ff0'0000'0000'0000);
    case at::kFloat:
      return AnyNan<uint32_t>(data, bytes, 0x7f80'0000);
    case at::kBFloat16:
      return AnyNan<uint16_t>(data, bytes, 0x7f80);
    case at::kHalf:
      return AnyNan<uint16_t>(data, bytes, 0x7c00);
    default:
      return false;
  }
}

absl::Status CheckNoNan(const std::string& group, const NamedTensor& item) {
  if (!HasNan(item.tensor)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("tensor ", QuotedName(item.name), " of ", QuotedName(group),
                   " contains NaN; earlier checkpoints are kept"));
}

}  // namespace trainyard
