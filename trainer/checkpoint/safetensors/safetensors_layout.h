// The tensors of a safetensors file and their positions. Names are unique, and
// the bytes of the tensors follow each other without gaps. Free of libtorch.
//
//   SafetensorsHeader header;
//   header.tensors = {
//       {.name = "w", .dtype = SafetensorsDtype::kF32, .shape = {2, 3}}};
//   absl::Status status = LayOutTensors(header);  // begin = 0, end = 24
//
// Errors name the tensor. Thread-safe.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_SAFETENSORS_SAFETENSORS_LAYOUT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_SAFETENSORS_SAFETENSORS_LAYOUT_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trainer/checkpoint/safetensors/safetensors_dtype.h"

namespace trainyard {

struct SafetensorsEntry {
  std::string name;
  SafetensorsDtype dtype = SafetensorsDtype::kF32;
  std::vector<uint64_t> shape = {};
  // The position of its bytes, from the end of the header.
  uint64_t begin = 0;
  uint64_t end = 0;

  uint64_t size() const { return end - begin; }
};

struct SafetensorsHeader {
  // In the order of their bytes.
  std::vector<SafetensorsEntry> tensors;
  std::map<std::string, std::string> metadata;
  // The position of the first tensor in the file.
  uint64_t data_begin = 0;
};

// Returns the number of bytes of a tensor. Returns InvalidArgument if it is not
// an integer or does not fit into 64 bits.
absl::StatusOr<uint64_t> SafetensorsByteSize(
    SafetensorsDtype dtype, const std::vector<uint64_t>& shape);

// Sorts the tensors as they are written, the widest elements first, then by
// name, and sets their positions. Returns InvalidArgument for a duplicate name
// or an invalid shape.
absl::Status LayOutTensors(SafetensorsHeader& header);

// Sorts the tensors by their positions. Returns DataLoss unless names are
// unique, sizes match types and shapes, and the tensors cover `data_size` bytes
// without gaps and overlaps.
absl::Status CheckLayout(SafetensorsHeader& header, uint64_t data_size);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_SAFETENSORS_SAFETENSORS_LAYOUT_H_
