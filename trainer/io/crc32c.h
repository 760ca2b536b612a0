// CRC32C (Castagnoli), the checksum of checkpoints: by the processor's own
// instruction where it has one, by table elsewhere. Free of libtorch.
//
//   uint32_t crc = Crc32c(first.data(), first.size());
//   crc = Crc32c(second.data(), second.size(), crc);  // as if both were one
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_IO_CRC32C_H_
#define TRAINYARD_TRAINER_IO_CRC32C_H_

#include <cstddef>
#include <cstdint>

namespace trainyard {

// The checksum of what `crc` is the checksum of, followed by these bytes.
uint32_t Crc32c(const void* data, size_t size, uint32_t crc = 0);

// The checksum of two parts, one after the other, from the checksum of each: a
// file's from its tensors', without a second look at their bytes.
uint32_t Crc32cCombined(uint32_t first, uint32_t second, uint64_t second_size);

// The same as Crc32c by table alone: what Crc32c is tested against.
uint32_t Crc32cByTable(const void* data, size_t size, uint32_t crc = 0);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_IO_CRC32C_H_
