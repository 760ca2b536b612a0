#include "trainer/io/utf8.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace trainyard {
namespace {

// Encodes a number in `length` bytes, valid or not.
std::string Encode(uint32_t code, size_t length) {
  if (length == 1) return std::string(1, static_cast<char>(code));
  std::string bytes(length, '\0');
  for (size_t i = length - 1; i > 0; --i, code >>= 6) {
    bytes[i] = static_cast<char>(0x80 | (code & 0x3F));
  }
  const uint32_t marks[] = {0, 0, 0xC0, 0xE0, 0xF0};
  bytes[0] = static_cast<char>(marks[length] | code);
  return bytes;
}

size_t ShortestLength(uint32_t code) {
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

TEST(Utf8Test, AcceptsEveryCharacterInItsShortestFormOnly) {
  for (uint32_t code = 0; code < 0x120000; ++code) {
    const bool character =
        code < 0x110000 && !(code >= 0xD800 && code < 0xE000);
    for (size_t length = ShortestLength(code); length <= 4; ++length) {
      const bool valid = character && length == ShortestLength(code);
      const std::string bytes = Encode(code, length);
      ASSERT_EQ(ValidUtf8Prefix(bytes), valid ? length : 0) << code;
    }
  }
}

TEST(Utf8Test, StopsBeforeTheFirstBrokenCharacter) {
  const std::string text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x9A\x82";
  EXPECT_EQ(ValidUtf8Prefix(text), text.size());
  const size_t ends[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10};
  for (size_t size = 0; size <= text.size(); ++size) {
    EXPECT_EQ(ValidUtf8Prefix(text.substr(0, size)), ends[size]) << size;
  }
  EXPECT_EQ(ValidUtf8Prefix("ab\xFF"), 2U);
  EXPECT_EQ(ValidUtf8Prefix("ab\x80"), 2U);
  EXPECT_EQ(ValidUtf8Prefix("ab\xC3("), 2U);
  EXPECT_EQ(ValidUtf8Prefix("ab\xE2\x82("), 2U);
}

}  // namespace
}  // namespace trainyard
