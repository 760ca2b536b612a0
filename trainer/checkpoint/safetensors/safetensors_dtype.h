// The element types of safetensors files. Free of libtorch.
//
//   DtypeName(SafetensorsDtype::kBF16);  // "BF16"
//   DtypeBits(SafetensorsDtype::kF4);    // 4
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_SAFETENSORS_SAFETENSORS_DTYPE_H_
#define TRAINYARD_TRAINER_CHECKPOINT_SAFETENSORS_SAFETENSORS_DTYPE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace trainyard {

// Writers sort tensors by this order, from the last value to the first, so that
// the widest elements come first and every tensor is aligned.
enum class SafetensorsDtype : uint8_t {
  kBool,
  kF4,
  kF6E2M3,
  kF6E3M2,
  kU8,
  kI8,
  kF8E5M2,
  kF8E4M3,
  kF8E8M0,
  kF8E4M3Fnuz,
  kF8E5M2Fnuz,
  kI16,
  kU16,
  kF16,
  kBF16,
  kI32,
  kU32,
  kF32,
  kC64,
  kF64,
  kI64,
  kU64,
};

// Returns the name in files, e.g. "F8_E4M3".
std::string_view DtypeName(SafetensorsDtype dtype);

// Returns the type of a name, or nothing if no type has this name.
std::optional<SafetensorsDtype> DtypeOfName(std::string_view name);

// Returns the number of bits of one element.
uint64_t DtypeBits(SafetensorsDtype dtype);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_SAFETENSORS_SAFETENSORS_DTYPE_H_
