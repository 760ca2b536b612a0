// Which tensors a safetensors file holds and where, and the rules for it: names
// are unique, and the bytes of the tensors follow each other without holes and
// overlaps. Free of libtorch.
//
//   SafetensorsHeader header;
//   header.tensors = {{.name = "w", .dtype = SafetensorsDtype::kF32,
//                      .shape = {2, 3}}};
//   absl::Status status = LayOutTensors(header);  // begin = 0, end = 24
//
// Errors say which tensor is wrong. Thread-safe.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_SAFETENSORS_SAFETENSORS_LAYOUT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_SAFETENSORS_SAFETENSORS_LAYOUT_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/checkpoint/safetensors/safetensors_dtype.h"

namespace trainyard {

struct SafetensorsEntry {
  std::string name;
  SafetensorsDtype dtype = SafetensorsDtype::kF32;
  std::vector<uint64_t> shape = {};
  // Where its bytes are, counted from the end of the header.
  uint64_t begin = 0;
  uint64_t end = 0;

  uint64_t size() const { return end - begin; }
};

struct SafetensorsHeader {
  // In the order of their bytes.
  std::vector<SafetensorsEntry> tensors;
  std::map<std::string, std::string> metadata;
  // Where the bytes of tensors begin in the file.
  uint64_t data_begin = 0;
};

// The bytes of a tensor. InvalidArgument if 64 bits cannot count them, or if
// they are not whole.
absl::StatusOr<uint64_t> SafetensorsByteSize(
    SafetensorsDtype dtype, const std::vector<uint64_t>& shape);

// Sorts tensors as they are written, the widest elements first and equal ones
// by name, and gives each its place. InvalidArgument if a name comes twice or a
// shape cannot be.
absl::Status LayOutTensors(SafetensorsHeader& header);

// Sorts tensors by their places. DataLoss unless each has a name and a place of
// its own, of the right size, and all together cover `data_size` bytes.
absl::Status CheckLayout(SafetensorsHeader& header, uint64_t data_size);

// A name as messages show it: in quotes, of bounded length, harmless to
// terminals.
std::string QuotedName(std::string_view name);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_SAFETENSORS_SAFETENSORS_LAYOUT_H_
