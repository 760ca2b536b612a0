#include "tracking/sinks/png.h"

#include <png.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace trainyard {
namespace {

constexpr int64_t kLargestSide = 1 << 15;

void Check(const tracking::Image& image) {
  const bool good_size = image.width >= 1 && image.height >= 1 &&
                         image.width <= kLargestSide &&
                         image.height <= kLargestSide;
  const bool good_channels =
      image.channels == 1 || image.channels == 3 || image.channels == 4;
  if (good_size && good_channels &&
      image.pixels.size() ==
          static_cast<size_t>(image.width * image.height * image.channels)) {
    return;
  }
  throw std::invalid_argument(
      "Image \"" + image.name + "\": " + std::to_string(image.width) + " x " +
      std::to_string(image.height) + " with " + std::to_string(image.channels) +
      " channels and " + std::to_string(image.pixels.size()) + " bytes");
}

}  // namespace

std::string ToPng(const tracking::Image& image) {
  Check(image);
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(image.width);
  png.height = static_cast<png_uint_32>(image.height);
  png.format = image.channels == 1   ? PNG_FORMAT_GRAY
               : image.channels == 3 ? PNG_FORMAT_RGB
                                     : PNG_FORMAT_RGBA;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
  std::string packed(size, '\0');
  if (!png_image_write_to_memory(&png, packed.data(), &size,
                                 /*convert_to_8_bit=*/0, image.pixels.data(),
                                 /*row_stride=*/0, /*colormap=*/nullptr)) {
    throw std::runtime_error("Image \"" + image.name + "\": " + png.message);
  }
  packed.resize(size);
  return packed;
}

}  // namespace trainyard
