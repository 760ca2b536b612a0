#include "trainer/io/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace trainyard {
namespace {

constexpr uint32_t kPolynomial =
    0x82F63B78;  // Castagnoli's, with the bits reversed

constexpr std::array<uint32_t, 256> MakeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    table[byte] = crc;
  }
  return table;
}

constexpr std::array<uint32_t, 256> kTable = MakeTable();

// The product of two polynomials modulo Castagnoli's. The highest power is in
// the lowest bit.
constexpr uint32_t Multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (uint32_t power = uint32_t{1} << 31; power != 0; power >>= 1) {
    if ((a & power) != 0) product ^= b;
    b = (b >> 1) ^ ((b & 1) != 0 ? kPolynomial : 0);
  }
  return product;
}

// x to the power of 8 * bytes: a checksum is multiplied by it when `bytes` more
// bytes follow.
constexpr uint32_t PowerOfX(uint64_t bytes) {
  uint32_t power = uint32_t{1} << 31;         // 1
  uint32_t square = uint32_t{1} << (31 - 8);  // x^8
  for (; bytes != 0; bytes >>= 1, square = Multiply(square, square)) {
    if ((bytes & 1) != 0) power = Multiply(power, square);
  }
  return power;
}

#if defined(__x86_64__)
// The instruction takes three cycles, but one can start in each cycle: three
// interleaved parts are three times as fast as one.
template <size_t kPart>
__attribute__((target("sse4.2"))) uint64_t
ThreeParts(const unsigned char*& bytes, size_t& size, uint64_t crc) {
  constexpr uint32_t kShift = PowerOfX(kPart);
  for (; size >= 3 * kPart; size -= 3 * kPart, bytes += 3 * kPart) {
    uint64_t second = 0;
    uint64_t third = 0;
    for (size_t at = 0; at < kPart; at += 8) {
      uint64_t words[3];
      std::memcpy(&words[0], bytes + at, 8);
      std::memcpy(&words[1], bytes + kPart + at, 8);
      std::memcpy(&words[2], bytes + 2 * kPart + at, 8);
      crc = _mm_crc32_u64(crc, words[0]);
      second = _mm_crc32_u64(second, words[1]);
      third = _mm_crc32_u64(third, words[2]);
    }
    crc = Multiply(kShift, static_cast<uint32_t>(crc)) ^ second;
    crc = Multiply(kShift, static_cast<uint32_t>(crc)) ^ third;
  }
  return crc;
}

__attribute__((target("sse4.2"))) uint32_t ByInstruction(const void* data,
                                                         size_t size,
                                                         uint32_t crc) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  uint64_t wide = ~crc;
  wide = ThreeParts<16384>(bytes, size, wide);
  wide = ThreeParts<512>(bytes, size, wide);
  for (; size >= 8; size -= 8, bytes += 8) {
    uint64_t word;
    std::memcpy(&word, bytes, 8);
    wide = _mm_crc32_u64(wide, word);
  }
  auto narrow = static_cast<uint32_t>(wide);
  for (; size > 0; --size, ++bytes) narrow = _mm_crc32_u8(narrow, *bytes);
  return ~narrow;
}
#endif

}  // namespace

uint32_t Crc32cByTable(const void* data, size_t size, uint32_t crc) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  crc = ~crc;
  for (size_t i = 0; i < size; ++i)
    crc = (crc >> 8) ^ kTable[(crc ^ bytes[i]) & 0xFF];
  return ~crc;
}

uint32_t Crc32cCombined(uint32_t first, uint32_t second, uint64_t second_size) {
  return Multiply(PowerOfX(second_size), first) ^ second;
}

uint32_t Crc32c(const void* data, size_t size, uint32_t crc) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) return ByInstruction(data, size, crc);
#endif
  return Crc32cByTable(data, size, crc);
}

}  // namespace trainyard
