// Encodes image files for tests.
#ifndef TRAINYARD_TRAINER_DATA_TESTING_TEST_IMAGES_H_
#define TRAINYARD_TRAINER_DATA_TESTING_TEST_IMAGES_H_

#include <string>

#include "trainer/data/images/image.h"

namespace trainyard {

// An image whose pixels all have the given values.
DecodedImage PlainImage(size_t height, size_t width,
                        std::vector<uint8_t> pixel);

std::string EncodePngForTest(const DecodedImage& image);
std::string EncodeJpegForTest(const DecodedImage& image);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_TESTING_TEST_IMAGES_H_
