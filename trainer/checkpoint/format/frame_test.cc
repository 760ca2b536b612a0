#include "trainer/checkpoint/format/frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

using ::testing::HasSubstr;

// The bytes must never change: every version must read what was ever saved.
TEST(FrameTest, HasTheDocumentedBytes) {
  const std::string file = Framed(kManifestMagic, "abc");
  ASSERT_EQ(file.size(), 19U);
  EXPECT_EQ(file.substr(0, 15), std::string("TYCKPT1\n\3\0\0\0abc", 15));
  EXPECT_EQ(file.substr(15), std::string("\xC3\x9A\x1E\xBD"));
}

TEST(FrameTest, ParseInvertsFormat) {
  for (const size_t size : {0, 1, 1000}) {
    const std::string message(size, '\xFF');
    const std::string file = Framed(kStatesMagic, message);
    const auto read = Unframed(kStatesMagic, file);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, message);
  }
}

TEST(FrameTest, DetectsEveryFlippedBitAndEveryCut) {
  const std::string file = Framed(kManifestMagic, "a message");
  for (size_t bit = 0; bit < 8 * file.size(); ++bit) {
    std::string damaged = file;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(Unframed(kManifestMagic, damaged).ok()) << bit;
  }
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_FALSE(Unframed(kManifestMagic, file.substr(0, size)).ok()) << size;
  }
  EXPECT_FALSE(Unframed(kManifestMagic, file + '\0').ok());
}

TEST(FrameTest, ErrorsNameTheProblem) {
  const std::string file = Framed(kManifestMagic, "a message");
  const auto message = [](const auto& read) {
    return std::string(read.status().message());
  };
  EXPECT_THAT(message(Unframed(kStatesMagic, file)),
              HasSubstr("does not begin with the magic bytes of its kind"));
  EXPECT_THAT(message(Unframed(kManifestMagic, file + "x")),
              HasSubstr("has 26 bytes; it must have 25"));
  EXPECT_THAT(message(Unframed(kManifestMagic, "")), HasSubstr("too few"));
}

}  // namespace
}  // namespace trainyard
