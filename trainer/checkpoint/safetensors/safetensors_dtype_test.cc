#include "trainer/checkpoint/safetensors/safetensors_dtype.h"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

TEST(SafetensorsDtypeTest, NamesAndTypesAreOneToOne) {
  uint64_t last_bits = 0;
  for (int i = 0; i <= static_cast<int>(SafetensorsDtype::kU64); ++i) {
    const auto dtype = static_cast<SafetensorsDtype>(i);
    EXPECT_EQ(DtypeOfName(DtypeName(dtype)), dtype) << i;
    // Types are sorted by size, except types of less than a byte.
    if (DtypeBits(dtype) % 8 == 0) {
      EXPECT_GE(DtypeBits(dtype), last_bits) << DtypeName(dtype);
      last_bits = DtypeBits(dtype);
    }
  }
  for (const char* const name : {"", "f32", "F32 ", "F128", "COMPLEX64"}) {
    EXPECT_FALSE(DtypeOfName(name).has_value()) << name;
  }
}

// The number after the first letters of a name is its size, except for BOOL.
TEST(SafetensorsDtypeTest, SizesMatchTheNames) {
  for (int i = 1; i <= static_cast<int>(SafetensorsDtype::kU64); ++i) {
    const auto dtype = static_cast<SafetensorsDtype>(i);
    const std::string_view name = DtypeName(dtype);
    uint64_t bits = 0;
    for (size_t at = name.find_first_of("0123456789");
         at < name.size() && name[at] >= '0' && name[at] <= '9'; ++at) {
      bits = 10 * bits + static_cast<uint64_t>(name[at] - '0');
    }
    EXPECT_EQ(DtypeBits(dtype), bits) << name;
  }
  EXPECT_EQ(DtypeBits(SafetensorsDtype::kBool), 8U);
}

}  // namespace
}  // namespace trainyard
