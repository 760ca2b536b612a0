#include "tools/inspect/tensor_statistics.h"

#include <ATen/ops/isfinite.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <cstring>

#include "trainer/checkpoint/state_crc32c.h"
#include "trainer/model/tensor_match.h"

namespace trainyard {
namespace {

// The values as doubles; undefined for types that cannot be converted (F4).
at::Tensor AsDoubles(const at::Tensor& tensor) {
  try {
    return (tensor.is_complex() ? tensor.abs() : tensor)
        .to(at::kDouble)
        .flatten();
  } catch (const c10::Error&) {
    return at::Tensor();
  }
}

}  // namespace

std::string DescribeTensor(const at::Tensor& tensor) {
  std::string text = KindOf(tensor);
  const at::Tensor numbers = AsDoubles(tensor);
  if (!numbers.defined() || numbers.numel() == 0) return text;
  const at::Tensor finite = numbers.masked_select(at::isfinite(numbers));
  if (finite.numel() > 0) {
    absl::StrAppendFormat(&text, " min %.6g max %.6g mean %.6g deviation %.6g",
                          finite.min().item<double>(),
                          finite.max().item<double>(),
                          finite.mean().item<double>(),
                          finite.std(/*unbiased=*/false).item<double>());
  }
  const int64_t others = numbers.numel() - finite.numel();
  if (others > 0) absl::StrAppend(&text, ", ", others, " NOT FINITE");
  return text;
}

std::string DescribeDifference(const at::Tensor& one, const at::Tensor& other) {
  if (one.sizes() != other.sizes() ||
      one.scalar_type() != other.scalar_type()) {
    return absl::StrCat(KindOf(one), " | ", KindOf(other));
  }
  const at::Tensor a = AsDoubles(one);
  const at::Tensor b = AsDoubles(other);
  if (!a.defined() || !b.defined()) return "other bytes";
  const int64_t count = a.ne(b).sum().item<int64_t>();
  return absl::StrFormat("%d of %d elements differ, by at most %.6g", count,
                         a.numel(), a.sub(b).abs().max().item<double>());
}

bool SameTensors(const at::Tensor& one, const at::Tensor& other) {
  if (one.sizes() != other.sizes() ||
      one.scalar_type() != other.scalar_type()) {
    return false;
  }
  const at::Tensor a = one.contiguous();
  const at::Tensor b = other.contiguous();
  return a.nbytes() == 0 ||
         std::memcmp(a.const_data_ptr(), b.const_data_ptr(), a.nbytes()) == 0;
}

std::string TensorCrc(const at::Tensor& tensor) {
  return absl::StrFormat("%08x", StateCrc32c({{"", tensor}}));
}

}  // namespace trainyard
