#include "trainer/checkpoint/safetensors/safetensors_layout.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "trainer/io/quoted_name.h"

namespace trainyard {
namespace {

std::string ToString(const SafetensorsEntry& entry) {
  const std::string_view dtype = DtypeName(entry.dtype);
  return absl::StrCat(absl::string_view(dtype.data(), dtype.size()), " [",
                      absl::StrJoin(entry.shape, ", "), "]");
}

void SortByName(std::vector<SafetensorsEntry>& entries) {
  std::sort(entries.begin(), entries.end(),
            [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
              return a.name < b.name;
            });
}

// Returns the problem, or an empty text.
std::string NameThatComesTwice(const std::vector<SafetensorsEntry>& sorted) {
  const auto twice = std::adjacent_find(
      sorted.begin(), sorted.end(),
      [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
        return a.name == b.name;
      });
  if (twice == sorted.end()) return "";
  return absl::StrCat("tensor ", QuotedName(twice->name), " comes twice");
}

absl::Status CheckCover(const std::vector<SafetensorsEntry>& entries,
                        uint64_t data_size) {
  uint64_t covered = 0;
  for (const SafetensorsEntry& entry : entries) {
    const std::string name = QuotedName(entry.name);
    if (entry.begin != covered || entry.end < entry.begin) {
      return absl::DataLossError(absl::StrCat(
          "tensor ", name, " takes bytes ", entry.begin, " to ", entry.end,
          " where one that begins at ", covered, " must follow"));
    }
    const absl::StatusOr<uint64_t> size =
        SafetensorsByteSize(entry.dtype, entry.shape);
    if (!size.ok())
      return absl::DataLossError(
          absl::StrCat("tensor ", name, " ", size.status().message()));
    if (entry.size() != *size) {
      return absl::DataLossError(absl::StrCat("tensor ", name, " takes ",
                                              entry.size(), " bytes, but ",
                                              ToString(entry), " has ", *size));
    }
    covered = entry.end;
  }
  if (covered == data_size) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("the tensors take ", covered,
                                          " bytes, but ", data_size,
                                          " follow the header"));
}

}  // namespace

absl::StatusOr<uint64_t> SafetensorsByteSize(
    SafetensorsDtype dtype, const std::vector<uint64_t>& shape) {
  uint64_t bits = 1;
  bool fits = true;
  for (const uint64_t size : shape) {
    fits = fits && !__builtin_mul_overflow(bits, size, &bits);
  }
  if (!fits || __builtin_mul_overflow(bits, DtypeBits(dtype), &bits)) {
    return absl::InvalidArgumentError("has more bits than 64 bits can count");
  }
  if (bits % 8 != 0) {
    return absl::InvalidArgumentError("ends within a byte");
  }
  return bits / 8;
}

absl::Status LayOutTensors(SafetensorsHeader& header) {
  std::vector<SafetensorsEntry>& tensors = header.tensors;
  SortByName(tensors);
  const std::string twice = NameThatComesTwice(tensors);
  if (!twice.empty()) return absl::InvalidArgumentError(twice);
  std::stable_sort(tensors.begin(), tensors.end(),
                   [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
                     return a.dtype > b.dtype;
                   });
  uint64_t at = 0;
  for (SafetensorsEntry& tensor : tensors) {
    absl::StatusOr<uint64_t> size =
        SafetensorsByteSize(tensor.dtype, tensor.shape);
    tensor.begin = at;
    if (size.ok() && __builtin_add_overflow(at, *size, &at)) {
      size = absl::InvalidArgumentError("ends where 64 bits cannot count");
    }
    if (!size.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "tensor ", QuotedName(tensor.name), " ", size.status().message()));
    }
    tensor.end = at;
  }
  return absl::OkStatus();
}

absl::Status CheckLayout(SafetensorsHeader& header, uint64_t data_size) {
  std::vector<SafetensorsEntry>& tensors = header.tensors;
  SortByName(tensors);
  const std::string twice = NameThatComesTwice(tensors);
  if (!twice.empty()) return absl::DataLossError(twice);
  // Stable: tensors without bytes may have the same position and stay sorted by
  // name.
  std::stable_sort(tensors.begin(), tensors.end(),
                   [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
                     return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
                   });
  return CheckCover(tensors, data_size);
}

}  // namespace trainyard
