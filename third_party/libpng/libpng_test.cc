// What was encoded comes back.
#include <gtest/gtest.h>
#include <png.h>

#include <vector>

namespace {

TEST(LibpngTest, RestoresWhatWasEncoded) {
  const std::vector<png_byte> pixels = {1, 2, 3, 250, 251, 252};
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = 2;
  image.height = 1;
  image.format = PNG_FORMAT_RGB;
  std::vector<png_byte> packed(10000);
  png_alloc_size_t size = packed.size();
  ASSERT_TRUE(png_image_write_to_memory(&image, packed.data(), &size, 0,
                                        pixels.data(), 0, nullptr));

  png_image read = {};
  read.version = PNG_IMAGE_VERSION;
  ASSERT_TRUE(png_image_begin_read_from_memory(&read, packed.data(), size));
  EXPECT_EQ(read.width, 2U);
  read.format = PNG_FORMAT_RGB;
  std::vector<png_byte> restored(PNG_IMAGE_SIZE(read));
  ASSERT_TRUE(
      png_image_finish_read(&read, nullptr, restored.data(), 0, nullptr));
  EXPECT_EQ(restored, pixels);
}

}  // namespace
