// DecodeImage decodes the bytes of a PNG or JPEG file, whose format it detects
// by content. Free of libtorch.
//
//   absl::StatusOr<DecodedImage> image = DecodeImage(bytes, /*channels=*/3);
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_DATA_IMAGES_IMAGE_H_
#define TRAINYARD_TRAINER_DATA_IMAGES_IMAGE_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace trainyard {

struct DecodedImage {
  size_t height = 0;
  size_t width = 0;
  size_t channels = 0;
  // Row by row; the channels of a pixel are adjacent.
  std::vector<uint8_t> pixels;
};

// Converts to grey (1 channel) or RGB (3 channels); transparent pixels are
// blended with black. DataLoss if the bytes are damaged or truncated,
// InvalidArgument if they are neither PNG nor JPEG, ResourceExhausted above
// 2^28 pixels. REQUIRES: channels is 1 or 3.
absl::StatusOr<DecodedImage> DecodeImage(std::string_view bytes, int channels);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_IMAGES_IMAGE_H_
