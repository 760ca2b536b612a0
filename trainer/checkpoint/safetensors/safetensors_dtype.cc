#include "trainer/checkpoint/safetensors/safetensors_dtype.h"

#include <cstddef>
#include <iterator>

namespace trainyard {
namespace {

struct Dtype {
  std::string_view name;
  uint8_t bits;
};

// In the order of the enumeration.
constexpr Dtype kDtypes[] = {
    {"BOOL", 8},    {"F4", 4},          {"F6_E2M3", 6},     {"F6_E3M2", 6},
    {"U8", 8},      {"I8", 8},          {"F8_E5M2", 8},     {"F8_E4M3", 8},
    {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
    {"U16", 16},    {"F16", 16},        {"BF16", 16},       {"I32", 32},
    {"U32", 32},    {"F32", 32},        {"C64", 64},        {"F64", 64},
    {"I64", 64},    {"U64", 64},
};
static_assert(std::size(kDtypes) == size_t{1} + size_t(SafetensorsDtype::kU64));

}  // namespace

std::string_view DtypeName(SafetensorsDtype dtype) {
  return kDtypes[static_cast<size_t>(dtype)].name;
}

std::optional<SafetensorsDtype> DtypeOfName(std::string_view name) {
  for (size_t i = 0; i < std::size(kDtypes); ++i) {
    if (kDtypes[i].name == name) return static_cast<SafetensorsDtype>(i);
  }
  return std::nullopt;
}

uint64_t DtypeBits(SafetensorsDtype dtype) {
  return kDtypes[static_cast<size_t>(dtype)].bits;
}

}  // namespace trainyard
