// One number for the whole state of a run, so that two runs can be compared:
// CRC32C over names, types, shapes and bytes of named tensors, in the order
// given.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_STATE_CRC32C_H_
#define TRAINYARD_TRAINER_CHECKPOINT_STATE_CRC32C_H_

#include <cstdint>
#include <vector>

#include "trainer/model/named_tensor.h"

namespace trainyard {

// The checksum of what `crc` is the checksum of, followed by these tensors.
uint32_t StateCrc32c(const std::vector<NamedTensor>& state, uint32_t crc = 0);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_STATE_CRC32C_H_
