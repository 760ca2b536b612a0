// Reads the description of one tensor from the pickle of a .pt file: its type,
// its shape, and its place in a storage. Free of libtorch.
//
//   const std::optional<uint32_t> call = TensorCall(tree, node);
//   if (call) {
//     absl::StatusOr<PtTensor> tensor = ReadPtTensor(tree, *call);
//   }
//
// The input may come from anybody: every element of an accepted tensor lies in
// its storage. Thread-safe.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_PT_PT_TENSOR_H_
#define TRAINYARD_TRAINER_CHECKPOINT_PT_PT_TENSOR_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "trainer/checkpoint/pt/pickle_tree.h"
#include "trainer/checkpoint/safetensors/safetensors_dtype.h"

namespace trainyard {

struct PtTensor {
  // Its path in the file, e.g. "model.0.weight".
  std::string name = {};
  SafetensorsDtype dtype = SafetensorsDtype::kF32;
  std::vector<int64_t> shape = {};
  std::vector<int64_t> strides = {};
  // Of its first element in the storage, in elements.
  int64_t offset = 0;
  // The storage's name, and its number of bytes.
  std::string storage = {};
  uint64_t storage_bytes = 0;
};

// Every global that the pickle of a .pt file may name.
const std::set<std::string, std::less<>>& PtGlobals();

// Returns the node that describes the tensor if `node` is a tensor or a
// parameter, and nothing if it is something else.
std::optional<uint32_t> TensorCall(const PickleTree& tree, uint32_t node);

// Reads the tensor of a node that TensorCall returned; its name stays empty.
// Returns DataLoss if the description is inconsistent, and Unimplemented for
// views (conjugate, negative) that are no plain tensors.
absl::StatusOr<PtTensor> ReadPtTensor(const PickleTree& tree, uint32_t call);

// Returns the number of bytes of the tensor's elements. REQUIRES: it was
// accepted by ReadPtTensor.
uint64_t PtTensorBytes(const PtTensor& tensor);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_PT_PT_TENSOR_H_
