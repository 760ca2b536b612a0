#include "trainer/data/testing/test_images.h"

#include <png.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

// After <cstdio>, whose FILE it needs.
#include <jpeglib.h>

namespace trainyard {

DecodedImage PlainImage(size_t height, size_t width,
                        std::vector<uint8_t> pixel) {
  DecodedImage image{height, width, pixel.size(), {}};
  for (size_t i = 0; i < height * width; ++i)
    image.pixels.insert(image.pixels.end(), pixel.begin(), pixel.end());
  return image;
}

std::string EncodePngForTest(const DecodedImage& image) {
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(image.width);
  png.height = static_cast<png_uint_32>(image.height);
  constexpr png_uint_32 kFormats[] = {PNG_FORMAT_GRAY, PNG_FORMAT_GA,
                                      PNG_FORMAT_RGB, PNG_FORMAT_RGBA};
  png.format = kFormats[image.channels - 1];
  std::string packed(image.pixels.size() * 2 + 10000, '\0');
  png_alloc_size_t size = packed.size();
  if (!png_image_write_to_memory(&png, packed.data(), &size, 0,
                                 image.pixels.data(), 0, nullptr)) {
    throw std::runtime_error(png.message);
  }
  packed.resize(size);
  return packed;
}

std::string EncodeJpegForTest(const DecodedImage& image) {
  jpeg_error_mgr errors;
  jpeg_compress_struct writer;
  writer.err = jpeg_std_error(&errors);
  jpeg_create_compress(&writer);
  unsigned char* packed = nullptr;
  unsigned long size = 0;  // NOLINT: the library's type
  jpeg_mem_dest(&writer, &packed, &size);
  writer.image_width = static_cast<JDIMENSION>(image.width);
  writer.image_height = static_cast<JDIMENSION>(image.height);
  writer.input_components = static_cast<int>(image.channels);
  writer.in_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&writer);
  jpeg_start_compress(&writer, TRUE);
  while (writer.next_scanline < writer.image_height) {
    JSAMPROW row = const_cast<JSAMPROW>(image.pixels.data() +
                                        writer.next_scanline * image.width *
                                            image.channels);
    jpeg_write_scanlines(&writer, &row, 1);
  }
  jpeg_finish_compress(&writer);
  jpeg_destroy_compress(&writer);
  std::string result(reinterpret_cast<const char*>(packed), size);
  std::free(packed);
  return result;
}

}  // namespace trainyard
