#include "trainer/checkpoint/safetensors/safetensors_tensor.h"

#include <ATen/ops/empty.h>
#include <absl/strings/str_cat.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/io/quoted_name.h"

namespace trainyard {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the format is little-endian, and bytes are not swapped here");

using Dtype = SafetensorsDtype;

// Every type that both have. F4 counts elements, libtorch counts pairs.
constexpr std::pair<Dtype, at::ScalarType> kTypes[] = {
    {Dtype::kBool, at::kBool},
    {Dtype::kF4, at::kFloat4_e2m1fn_x2},
    {Dtype::kU8, at::kByte},
    {Dtype::kI8, at::kChar},
    {Dtype::kF8E5M2, at::kFloat8_e5m2},
    {Dtype::kF8E4M3, at::kFloat8_e4m3fn},
    {Dtype::kF8E8M0, at::kFloat8_e8m0fnu},
    {Dtype::kF8E4M3Fnuz, at::kFloat8_e4m3fnuz},
    {Dtype::kF8E5M2Fnuz, at::kFloat8_e5m2fnuz},
    {Dtype::kI16, at::kShort},
    {Dtype::kU16, at::kUInt16},
    {Dtype::kF16, at::kHalf},
    {Dtype::kBF16, at::kBFloat16},
    {Dtype::kI32, at::kInt},
    {Dtype::kU32, at::kUInt32},
    {Dtype::kF32, at::kFloat},
    {Dtype::kC64, at::kComplexFloat},
    {Dtype::kF64, at::kDouble},
    {Dtype::kI64, at::kLong},
    {Dtype::kU64, at::kUInt64},
};

// Runs a function that may throw, and adds the tensor's name to its error.
template <class Function>
auto ForTensor(const std::string& name, Function function)
    -> decltype(function()) {
  const std::string tensor = absl::StrCat("tensor ", QuotedName(name), " ");
  try {
    auto result = function();
    if (result.ok()) return result;
    const absl::Status status(result.status());
    return absl::Status(status.code(), absl::StrCat(tensor, status.message()));
  } catch (const c10::Error& error) {
    return absl::ResourceExhaustedError(
        absl::StrCat(tensor, "fails: ", error.what_without_backtrace()));
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(absl::StrCat(tensor, "has no room"));
  }
}

absl::StatusOr<at::Tensor> MakeEmpty(const SafetensorsEntry& entry) {
  const auto* const type = std::find_if(
      std::begin(kTypes), std::end(kTypes),
      [&entry](const auto& pair) { return pair.first == entry.dtype; });
  if (type == std::end(kTypes)) {
    const std::string_view dtype = DtypeName(entry.dtype);
    return absl::UnimplementedError(absl::StrCat(
        "is of type ", absl::string_view(dtype.data(), dtype.size()),
        ", which libtorch has not"));
  }
  std::vector<int64_t> sizes;
  for (const uint64_t size : entry.shape) {
    if (size > INT64_MAX) {
      return absl::UnimplementedError(absl::StrCat(
          "has a dimension of ", size, ", more than libtorch can count"));
    }
    sizes.push_back(static_cast<int64_t>(size));
  }
  if (entry.dtype == Dtype::kF4) {
    if (sizes.empty() || sizes.back() % 2 != 0) {
      return absl::UnimplementedError(
          "is of type F4, which libtorch has only in pairs along the last "
          "dimension");
    }
    sizes.back() /= 2;
  }
  return at::empty(sizes, at::TensorOptions(type->second));
}

absl::StatusOr<SafetensorsEntry> Describe(const NamedTensor& item) {
  const at::Tensor& tensor = item.tensor;
  if (!tensor.defined()) return absl::InvalidArgumentError("is undefined");
  if (tensor.layout() != at::kStrided || tensor.is_meta()) {
    return absl::InvalidArgumentError("is sparse or has no data");
  }
  const auto* const type = std::find_if(
      std::begin(kTypes), std::end(kTypes), [&tensor](const auto& pair) {
        return pair.second == tensor.scalar_type();
      });
  if (type == std::end(kTypes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("is of type ", c10::toString(tensor.scalar_type()),
                     ", which the format has not"));
  }
  SafetensorsEntry entry{.name = item.name, .dtype = type->first};
  entry.shape.assign(tensor.sizes().begin(), tensor.sizes().end());
  if (entry.dtype == Dtype::kF4) {
    if (entry.shape.empty()) {
      return absl::InvalidArgumentError("is of type F4 and has no dimension");
    }
    entry.shape.back() *= 2;
  }
  return entry;
}

}  // namespace

absl::StatusOr<SafetensorsEntry> EntryOf(const NamedTensor& item) {
  return ForTensor(item.name, [&item] { return Describe(item); });
}

absl::StatusOr<at::Tensor> HostBytes(const NamedTensor& item) {
  return ForTensor(item.name, [&item]() -> absl::StatusOr<at::Tensor> {
    return item.tensor.detach().resolve_conj().resolve_neg().cpu().contiguous();
  });
}

absl::StatusOr<at::Tensor> EmptyTensor(const SafetensorsEntry& entry) {
  return ForTensor(entry.name, [&entry] { return MakeEmpty(entry); });
}

absl::Status CheckValues(const SafetensorsEntry& entry,
                         const at::Tensor& tensor) {
  if (entry.dtype != Dtype::kBool) return absl::OkStatus();
  const auto* const bytes =
      static_cast<const uint8_t*>(tensor.const_data_ptr());
  if (std::all_of(bytes, bytes + entry.size(),
                  [](uint8_t byte) { return byte <= 1; })) {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat("tensor ", QuotedName(entry.name),
                                          " is of type BOOL and not all 0 and "
                                          "1"));
}

}  // namespace trainyard
