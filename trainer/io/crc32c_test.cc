#include "trainer/io/crc32c.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <string>

namespace trainyard {
namespace {

// The check values of RFC 3720, appendix B.4.
TEST(Crc32cTest, KnownValues) {
  EXPECT_EQ(Crc32c("123456789", 9), 0xE3069283);
  EXPECT_EQ(Crc32c(std::string(32, '\0').data(), 32), 0x8A9136AA);
  EXPECT_EQ(Crc32c(std::string(32, '\xFF').data(), 32), 0x62A8AB43);
  std::string rising(32, '\0');
  std::iota(rising.begin(), rising.end(), '\0');
  EXPECT_EQ(Crc32c(rising.data(), 32), 0x46DD794E);
  EXPECT_EQ(Crc32c("", 0), 0U);
}

TEST(Crc32cTest, InstructionAndTableAgreeAtEveryLengthAndOffset) {
  std::mt19937 random(1);
  std::string bytes(200, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  for (size_t offset = 0; offset < 9; ++offset) {
    for (size_t size = 0; size + offset <= bytes.size(); ++size) {
      ASSERT_EQ(Crc32c(bytes.data() + offset, size, 7),
                Crc32cByTable(bytes.data() + offset, size, 7))
          << offset << " " << size;
    }
  }
}

TEST(Crc32cTest, InstructionAndTableAgreeOnLongTexts) {
  std::mt19937 random(2);
  std::string bytes(120'000, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  for (const size_t size : {1535, 1536, 1537, 3071, 49'151, 49'152, 49'153,
                            50'688, 98'304, 119'999}) {
    ASSERT_EQ(Crc32c(bytes.data() + 1, size, 7),
              Crc32cByTable(bytes.data() + 1, size, 7))
        << size;
  }
}

TEST(Crc32cTest, ChecksumsOfPartsCombine) {
  const std::string text = "a file is its header and its tensors";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(Crc32cCombined(Crc32c(text.data(), cut),
                             Crc32c(text.data() + cut, text.size() - cut),
                             text.size() - cut),
              Crc32c(text.data(), text.size()));
  }
}

TEST(Crc32cTest, PartsGiveTheChecksumOfTheWhole) {
  const std::string text = "a checkpoint is written in many parts";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    const uint32_t first = Crc32c(text.data(), cut);
    EXPECT_EQ(Crc32c(text.data() + cut, text.size() - cut, first),
              Crc32c(text.data(), text.size()));
  }
}

}  // namespace
}  // namespace trainyard
