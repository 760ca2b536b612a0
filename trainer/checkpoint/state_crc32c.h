// StateCrc32c computes one number for the state of a run, to compare two runs:
// CRC32C over the names, types, shapes and bytes of named tensors.
//
//   uint32_t crc = StateCrc32c(NamedParameters(*model));
//   crc = StateCrc32c(optimizer.NamedTensors(), crc);  // of both together
//
// Thread-safe while nobody writes to the tensors.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_STATE_CRC32C_H_
#define TRAINYARD_TRAINER_CHECKPOINT_STATE_CRC32C_H_

#include <cstdint>
#include <vector>

#include "trainer/model/named_tensor.h"

namespace trainyard {

// Returns the checksum of what `crc` covers, followed by these tensors in this
// order.
uint32_t StateCrc32c(const std::vector<NamedTensor>& state, uint32_t crc = 0);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_STATE_CRC32C_H_
