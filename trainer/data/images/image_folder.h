// OpenImageFolder makes a dataset of a folder with one subfolder per class,
// which contains PNG and JPEG files at any depth. Classes are numbered in order
// of name, images in order of path, so both are equal on every machine. Batches
// are Examples: images as bytes, N x C x H x W, and class numbers.
//
//   const ImageFolder folder =
//       OpenImageFolder("flowers/train", {.height = 64, .width = 64}).value();
//   Loader loader(folder.data, sampler, {.batch_size = 32, .num_workers = 4});
//
// Files are read and decoded when a sample is read. A file that does not decode
// causes a SampleError with its path, or is left out at opening.
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_DATA_IMAGES_IMAGE_FOLDER_H_
#define TRAINYARD_TRAINER_DATA_IMAGES_IMAGE_FOLDER_H_

#include <ATen/core/Tensor.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trainer/data/dataset.h"
#include "trainer/data/sample_random.h"

namespace trainyard {

struct ImageFolderOptions {
  // 3: RGB; 1: grey.
  int channels = 3;
  // Images are resized to this. Unset: they keep their size, and must all have
  // one, or get one from `transform`. REQUIRES: both set, above 0, or neither.
  std::optional<int64_t> height = std::nullopt;
  std::optional<int64_t> width = std::nullopt;
  // Applied to each image (bytes, C x H x W), with the image's random numbers.
  std::function<at::Tensor(at::Tensor image, SampleRandom& random)> transform =
      nullptr;
  // Seed of these numbers.
  uint64_t seed = 0;
  // Decodes every file once at opening and leaves out those that fail, instead
  // of throwing when such a sample is read.
  bool leave_out_broken = false;
};

struct ImageFolder {
  DatasetPtr data;
  // Names by class number.
  std::vector<std::string> classes;
  // Path of each sample; and the paths that leave_out_broken left out.
  std::vector<std::string> files;
  std::vector<std::string> broken;
};

// The error names the folder: it does not exist, has no classes or no images.
absl::StatusOr<ImageFolder> OpenImageFolder(const std::string& path,
                                            const ImageFolderOptions& options);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_IMAGES_IMAGE_FOLDER_H_
