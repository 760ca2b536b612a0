// ToPng encodes an image as a PNG file in memory.
//
//   ToPng({.width = 1, .height = 1, .channels = 3, .pixels = {255, 0, 0}});
//
// Thread-safe.
#ifndef TRAINYARD_TRACKING_SINKS_PNG_H_
#define TRAINYARD_TRACKING_SINKS_PNG_H_

#include <string>

#include "tracking/sinks/record.h"

namespace trainyard {

// Throws std::invalid_argument, naming the image, for a size that is not
// positive, for other channels than 1, 3 or 4, and if the number of pixels does
// not match.
std::string ToPng(const tracking::Image& image);

}  // namespace trainyard

#endif  // TRAINYARD_TRACKING_SINKS_PNG_H_
