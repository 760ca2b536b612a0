// CRC32C (Castagnoli), the checksum of checkpoints. Uses the instruction of the
// processor if there is one, a table otherwise. Free of libtorch.
//
//   uint32_t crc = Crc32c(first.data(), first.size());
//   crc = Crc32c(second.data(), second.size(), crc);  // of both together
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_IO_CRC32C_H_
#define TRAINYARD_TRAINER_IO_CRC32C_H_

#include <cstddef>
#include <cstdint>

namespace trainyard {

// Returns the checksum of the bytes that `crc` covers, followed by these bytes.
uint32_t Crc32c(const void* data, size_t size, uint32_t crc = 0);

// Returns the checksum of two parts, one after the other, from their checksums.
// E.g. of a file from those of its tensors, without reading the bytes again.
uint32_t Crc32cCombined(uint32_t first, uint32_t second, uint64_t second_size);

// Crc32c by table only: the reference for tests of Crc32c.
uint32_t Crc32cByTable(const void* data, size_t size, uint32_t crc = 0);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_IO_CRC32C_H_
