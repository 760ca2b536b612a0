#include "tracking/sinks/png.h"

#include <absl/status/statusor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "tools/testing/error_of.h"
#include "tracking/sinks/record.h"
#include "trainer/data/images/image.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

uint32_t BigEndian(const std::string& png, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) {
    value = (value << 8) | static_cast<uint8_t>(png[at + i]);
  }
  return value;
}

// A program that reads an image folder and tracks has both kinds of image.
TEST(PngTest, HeaderExample) {
  const std::string png =
      ToPng({.width = 1, .height = 1, .channels = 3, .pixels = {255, 0, 0}});
  EXPECT_EQ(png.substr(1, 3), "PNG");
}

TEST(PngTest, TheDecoderOfDatasetsReadsIt) {
  const tracking::Image written{
      .width = 2, .height = 1, .channels = 3, .pixels = {1, 2, 3, 4, 5, 6}};
  const absl::StatusOr<DecodedImage> read = DecodeImage(ToPng(written), 3);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->width, 2);
  EXPECT_EQ(read->height, 1);
  EXPECT_EQ(read->pixels, written.pixels);
}

TEST(PngTest, HasThePixelsAndValidChecksums) {
  const std::string png =
      ToPng({.width = 2, .height = 2, .channels = 1, .pixels = {1, 2, 3, 4}});
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  std::vector<std::string> kinds;
  for (size_t at = 8; at < png.size();) {
    const uint32_t size = BigEndian(png, at);
    const std::string body = png.substr(at + 4, size + 4);
    EXPECT_EQ(BigEndian(png, at + 8 + size),
              crc32(0, reinterpret_cast<const Bytef*>(body.data()),
                    static_cast<uInt>(body.size())));
    kinds.push_back(body.substr(0, 4));
    at += 12 + size;
  }
  EXPECT_EQ(kinds.front(), "IHDR");
  EXPECT_THAT(kinds, ::testing::Contains("IDAT"));
  EXPECT_EQ(kinds.back(), "IEND");
  EXPECT_EQ(BigEndian(png, 16), 2);
  EXPECT_EQ(BigEndian(png, 20), 2);
  const absl::StatusOr<DecodedImage> read = DecodeImage(png, 1);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->pixels, (std::vector<uint8_t>{1, 2, 3, 4}));
}

TEST(PngTest, PixelsWithOpacityAreKept) {
  const std::string png = ToPng({.width = 2,
                                 .height = 1,
                                 .channels = 4,
                                 .pixels = {9, 8, 7, 255, 1, 1, 1, 0}});
  EXPECT_EQ(png[25], 6);  // RGBA
  const absl::StatusOr<DecodedImage> read = DecodeImage(png, 3);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->pixels, (std::vector<uint8_t>{9, 8, 7, 0, 0, 0}));
}

TEST(PngTest, InvalidImagesAreErrors) {
  EXPECT_THAT(ErrorOf([] {
                ToPng({.name = "cat", .width = 2, .height = 2, .pixels = {1}});
              }),
              HasSubstr("Image \"cat\": 2 x 2 with 1 channels and 1 bytes"));
  EXPECT_THROW(ToPng({.width = 0, .height = 2}), std::invalid_argument);
  EXPECT_THROW(
      ToPng({.width = 1, .height = 1, .channels = 2, .pixels = {1, 2}}),
      std::invalid_argument);
}

}  // namespace
}  // namespace trainyard
