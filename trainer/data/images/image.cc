#include "trainer/data/images/image.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <stdexcept>
#include <string>

// After <cstdio>, whose FILE it needs.
#include <jpeglib.h>

namespace trainyard {
namespace {

// Bounds what a header can make us allocate.
constexpr size_t kMaxPixels = size_t{1} << 28;

absl::Status TooLarge(size_t height, size_t width) {
  return absl::ResourceExhaustedError(
      absl::StrCat("the image is of ", height, " x ", width, " pixels"));
}

absl::StatusOr<DecodedImage> DecodePng(std::string_view bytes,
                                       size_t channels) {
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  const auto failed = [&] {
    const std::string message = png.message;
    png_image_free(&png);
    return absl::DataLossError(
        absl::StrCat("the PNG does not decode (", message, ")"));
  };
  if (!png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()))
    return failed();
  DecodedImage image{png.height, png.width, channels, {}};
  if (image.height > kMaxPixels / image.width) {
    png_image_free(&png);
    return TooLarge(image.height, image.width);
  }
  png.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  image.pixels.resize(image.height * image.width * channels);
  const png_color black = {0, 0, 0};
  if (!png_image_finish_read(&png, &black, image.pixels.data(), 0, nullptr))
    return failed();
  // Warnings are about damage that libpng could repair by guessing.
  if ((png.warning_or_error & PNG_IMAGE_ERROR) != 0) return failed();
  return image;
}

// libjpeg reports by calling back, and its error function must not return.
struct JpegErrors {
  jpeg_error_mgr manager;
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX] = {};
};

void OnJpegError(j_common_ptr info) {
  auto* errors = reinterpret_cast<JpegErrors*>(info->err);
  info->err->format_message(info, errors->message);
  std::longjmp(errors->jump, 1);
}

// libjpeg only warns about a truncated file and invents the rest; here it is
// an error.
void OnJpegMessage(j_common_ptr info, int level) {
  if (level < 0) OnJpegError(info);
}

// No object with a destructor may be created between setjmp and the end of
// libjpeg's work: the jump would skip the destructor. `image` belongs to the
// caller.
bool ReadJpeg(std::string_view bytes, size_t channels, JpegErrors& errors,
              DecodedImage& image) {
  jpeg_decompress_struct reader = {};
  reader.err = jpeg_std_error(&errors.manager);
  errors.manager.error_exit = OnJpegError;
  errors.manager.emit_message = OnJpegMessage;
  if (setjmp(errors.jump) != 0) {
    jpeg_destroy_decompress(&reader);
    return false;
  }
  jpeg_create_decompress(&reader);
  jpeg_mem_src(&reader, reinterpret_cast<const unsigned char*>(bytes.data()),
               bytes.size());
  jpeg_read_header(&reader, TRUE);
  image.height = reader.image_height;
  image.width = reader.image_width;
  image.channels = channels;
  if (image.height <= kMaxPixels / image.width) {
    reader.out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(&reader);
    image.pixels.resize(image.height * image.width * channels);
    while (reader.output_scanline < reader.output_height) {
      JSAMPROW row =
          image.pixels.data() + reader.output_scanline * image.width * channels;
      jpeg_read_scanlines(&reader, &row, 1);
    }
    jpeg_finish_decompress(&reader);
  }
  jpeg_destroy_decompress(&reader);
  return true;
}

absl::StatusOr<DecodedImage> DecodeJpeg(std::string_view bytes,
                                        size_t channels) {
  JpegErrors errors;
  DecodedImage image;
  if (!ReadJpeg(bytes, channels, errors, image)) {
    return absl::DataLossError(
        absl::StrCat("the JPEG does not decode (", errors.message, ")"));
  }
  if (image.pixels.empty()) return TooLarge(image.height, image.width);
  return image;
}

}  // namespace

absl::StatusOr<DecodedImage> DecodeImage(std::string_view bytes, int channels) {
  if (channels != 1 && channels != 3) {
    throw std::invalid_argument("DecodeImage: channels is " +
                                std::to_string(channels) +
                                "; it must be 1 or 3");
  }
  const auto count = static_cast<size_t>(channels);
  if (bytes.starts_with("\x89PNG\r\n\x1A\n")) return DecodePng(bytes, count);
  if (bytes.starts_with("\xFF\xD8\xFF")) return DecodeJpeg(bytes, count);
  return absl::InvalidArgumentError("it is neither a PNG nor a JPEG file");
}

}  // namespace trainyard
