#include "tracking/sinks/png.h"

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace trainyard {
namespace {

constexpr int64_t kLargestSide = 1 << 15;

void AppendBigEndian(std::string& text, uint64_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    text.push_back(static_cast<char>(value >> shift));
  }
}

void AppendChunk(std::string& png, const std::string& kind,
                 const std::string& data) {
  AppendBigEndian(png, data.size());
  const std::string checked = kind + data;
  png += checked;
  AppendBigEndian(png, crc32(0, reinterpret_cast<const Bytef*>(checked.data()),
                             static_cast<uInt>(checked.size())));
}

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

// Every line begins with the number of its filter: 0, none.
std::string Lines(const tracking::Image& image) {
  const auto line = static_cast<size_t>(image.width * image.channels);
  std::string lines;
  lines.reserve((line + 1) * static_cast<size_t>(image.height));
  for (size_t y = 0; y < static_cast<size_t>(image.height); ++y) {
    lines.push_back('\0');
    lines.append(reinterpret_cast<const char*>(image.pixels.data()) + y * line,
                 line);
  }
  return lines;
}

}  // namespace

std::string ToPng(const tracking::Image& image) {
  Check(image);
  const std::string lines = Lines(image);
  uLongf size = compressBound(lines.size());
  std::string packed(size, '\0');
  if (compress(reinterpret_cast<Bytef*>(packed.data()), &size,
               reinterpret_cast<const Bytef*>(lines.data()),
               lines.size()) != Z_OK) {
    throw std::runtime_error("zlib has no memory");
  }
  packed.resize(size);

  std::string header;
  AppendBigEndian(header, static_cast<uint64_t>(image.width));
  AppendBigEndian(header, static_cast<uint64_t>(image.height));
  header.push_back(8);  // bits per channel
  header.push_back(image.channels == 1 ? 0 : image.channels == 3 ? 2 : 6);
  header.append(3, '\0');
  std::string png = "\x89PNG\r\n\x1a\n";
  AppendChunk(png, "IHDR", header);
  AppendChunk(png, "IDAT", packed);
  AppendChunk(png, "IEND", "");
  return png;
}

}  // namespace trainyard
