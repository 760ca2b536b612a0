#include "tools/examples/fashion_mnist_data.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <filesystem>
#include <utility>

#include "trainer/data/batch.h"
#include "trainer/data/datasets/map.h"
#include "trainer/data/idx_files.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/data/transforms/crop.h"
#include "trainer/data/transforms/flip.h"

namespace trainyard {
namespace {

// Mean and standard deviation of the training images, where white is 1.
constexpr double kMean = 0.2860;
constexpr double kDeviation = 0.3530;

Example Normalise(Example bytes) {
  return {bytes.input.unsqueeze(1)
              .to(at::kFloat)
              .mul_(1 / (255 * kDeviation))
              .sub_(kMean / kDeviation),
          bytes.target};
}

// Reads a file as it is distributed (gzipped) or unpacked.
std::string FindFile(const std::string& folder, const std::string& name) {
  const std::string packed = absl::StrCat(folder, "/", name, ".gz");
  const std::string plain = absl::StrCat(folder, "/", name);
  return !std::filesystem::exists(packed) && std::filesystem::exists(plain)
             ? plain
             : packed;
}

absl::StatusOr<DatasetPtr> LoadPart(const std::string& folder,
                                    const std::string& part) {
  const std::string image_file = FindFile(folder, part + "-images-idx3-ubyte");
  const std::string label_file = FindFile(folder, part + "-labels-idx1-ubyte");
  const absl::StatusOr<at::Tensor> images = ReadIdxFile(image_file);
  if (!images.ok()) return images.status();
  const absl::StatusOr<at::Tensor> labels = ReadIdxFile(label_file);
  if (!labels.ok()) return labels.status();
  if (images->dim() != 3 || images->scalar_type() != at::kByte ||
      images->size(0) == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(image_file, ": holds no images (its shape is ",
                     absl::StrJoin(images->sizes(), " x "), ")"));
  }
  if (labels->dim() != 1 || labels->size(0) != images->size(0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        label_file, ": holds ", absl::StrJoin(labels->sizes(), " x "),
        " labels for ", images->size(0), " images"));
  }
  return MakeTensorDataset(Example{*images, labels->to(at::kLong)}, Normalise);
}

}  // namespace

absl::StatusOr<FashionMnist> LoadFashionMnist(const std::string& folder) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    return absl::NotFoundError(
        absl::StrCat(folder,
                     ": there is no such folder; Debian's package "
                     "dataset-fashion-mnist has the data in ",
                     kFashionMnistFolder));
  }
  absl::StatusOr<DatasetPtr> train = LoadPart(folder, "train");
  if (!train.ok()) return train.status();
  absl::StatusOr<DatasetPtr> test = LoadPart(folder, "t10k");
  if (!test.ok()) return test.status();
  return FashionMnist{*std::move(train), *std::move(test)};
}

DatasetPtr AugmentFashionMnist(DatasetPtr images, uint64_t seed) {
  return MapBatches<Example>(
      std::move(images),
      [](Example e, BatchRandom& random) {
        const at::Tensor mirrored = RandomFlip(e.input, {}, random);
        const RandomCropOptions crop{.height = 28,
                                     .width = 28,
                                     .padding = 2,
                                     .fill = -kMean / kDeviation};
        return Example{RandomCrop(mirrored, crop, random), e.target};
      },
      seed);
}

}  // namespace trainyard
