#include "trainer/data/images/image.h"

#include <absl/status/status.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "trainer/data/testing/test_images.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Rows of rising brightness: more than one value, and known.
DecodedImage Gradient(size_t height, size_t width) {
  DecodedImage image{height, width, 3, {}};
  for (size_t y = 0; y < height; ++y) {
    for (size_t i = 0; i < width * 3; ++i)
      image.pixels.push_back(static_cast<uint8_t>(y * 5 + i % 3));
  }
  return image;
}

TEST(DecodeImageTest, PngRoundTripIsExact) {
  const DecodedImage image = Gradient(20, 30);
  const absl::StatusOr<DecodedImage> decoded =
      DecodeImage(EncodePngForTest(image), 3);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->height, 20U);
  EXPECT_EQ(decoded->width, 30U);
  EXPECT_EQ(decoded->channels, 3U);
  EXPECT_EQ(decoded->pixels, image.pixels);
}

TEST(DecodeImageTest, JpegRoundTripIsClose) {
  const DecodedImage image = Gradient(20, 30);
  const absl::StatusOr<DecodedImage> decoded =
      DecodeImage(EncodeJpegForTest(image), 3);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  ASSERT_EQ(decoded->pixels.size(), image.pixels.size());
  for (size_t i = 0; i < image.pixels.size(); ++i)
    ASSERT_NEAR(decoded->pixels[i], image.pixels[i], 12) << i;
}

TEST(DecodeImageTest, ColoursAreConverted) {
  const DecodedImage red = PlainImage(2, 2, {255, 0, 0});
  EXPECT_EQ(DecodeImage(EncodePngForTest(red), 1)->pixels.size(), 4U);
  EXPECT_NEAR(DecodeImage(EncodeJpegForTest(red), 1)->pixels[0], 76, 2);
  const DecodedImage grey = PlainImage(1, 1, {9});
  EXPECT_THAT(DecodeImage(EncodePngForTest(grey), 3)->pixels,
              ElementsAre(9, 9, 9));
  EXPECT_THAT(DecodeImage(EncodeJpegForTest(grey), 3)->pixels,
              ElementsAre(9, 9, 9));
  // Nothing of a pixel that lets everything through is seen.
  const DecodedImage clear = PlainImage(1, 1, {200, 200, 200, 0});
  EXPECT_THAT(DecodeImage(EncodePngForTest(clear), 3)->pixels,
              ElementsAre(0, 0, 0));
}

TEST(DecodeImageTest, TruncatedBytesAreAnError) {
  const DecodedImage image = Gradient(20, 30);
  for (const std::string& whole :
       {EncodePngForTest(image), EncodeJpegForTest(image)}) {
    for (size_t size = 0; size + 16 < whole.size(); size += 7) {
      EXPECT_FALSE(DecodeImage(whole.substr(0, size), 3).ok()) << size;
    }
  }
}

TEST(DecodeImageTest, DamagedBytesNeverCrash) {
  const DecodedImage image = Gradient(20, 30);
  for (const std::string& whole :
       {EncodePngForTest(image), EncodeJpegForTest(image)}) {
    for (size_t at = 0; at < whole.size(); ++at) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x5A);
      const absl::StatusOr<DecodedImage> decoded = DecodeImage(damaged, 3);
      if (decoded.ok()) {
        EXPECT_EQ(decoded->pixels.size(), decoded->height * decoded->width * 3);
      }
    }
  }
}

TEST(DecodeImageTest, RejectsOtherFormats) {
  const absl::Status status = DecodeImage("GIF89a", 3).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("neither a PNG nor"));
  EXPECT_THROW((void)DecodeImage("", 2), std::invalid_argument);
}

TEST(DecodeImageTest, HeaderExample) {
  const std::string bytes = EncodePngForTest(PlainImage(4, 6, {1, 2, 3}));
  absl::StatusOr<DecodedImage> image = DecodeImage(bytes, /*channels=*/3);
  ASSERT_TRUE(image.ok());
  EXPECT_EQ(image->width, 6U);
}

}  // namespace
}  // namespace trainyard
