// A folder of images: one folder per class in it, and in those, at any depth,
// PNG and JPEG files. Classes are numbered by name, images by path, so that
// both are the same on every machine. Batches are Examples: images as bytes, N
// x C x H x W, and class numbers.
//
//   const ImageFolder folder =
//       OpenImageFolder("flowers/train", {.height = 64, .width = 64}).value();
//   Loader loader(folder.data, sampler, {.batch_size = 32, .num_workers = 4});
//
// Files are read and decoded when they are asked for. One that does not decode
// is a SampleError that names it, or is left out from the start.
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_DATA_IMAGES_IMAGE_FOLDER_H_
#define TRAINYARD_TRAINER_DATA_IMAGES_IMAGE_FOLDER_H_

#include <ATen/core/Tensor.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "trainer/data/dataset.h"
#include "trainer/data/sample_random.h"

namespace trainyard {

struct ImageFolderOptions {
  // 3: RGB; 1: grey.
  int channels = 3;
  // Images are resized to this; 0: they stay as they are, and must all be of
  // one size, or be given one by `transform`. REQUIRES: both 0 or both above.
  int64_t height = 0;
  int64_t width = 0;
  // Applied to each image (bytes, C x H x W), with random numbers of its own.
  std::function<at::Tensor(at::Tensor image, SampleRandom& random)> transform =
      nullptr;
  // Of those numbers.
  uint64_t seed = 0;
  // Decodes every file once at opening and leaves out those that do not decode,
  // instead of failing when one is asked for.
  bool leave_out_broken = false;
};

struct ImageFolder {
  DatasetPtr data;
  // By class number.
  std::vector<std::string> classes;
  // Paths, by sample; and of those that did not decode, with leave_out_broken.
  std::vector<std::string> files;
  std::vector<std::string> broken;
};

// The error names the folder: not there, no classes, no images in them.
absl::StatusOr<ImageFolder> OpenImageFolder(const std::string& path,
                                            const ImageFolderOptions& options);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_IMAGES_IMAGE_FOLDER_H_
