#include "trainer/data/images/image_folder.h"

#include <ATen/ops/_upsample_bilinear2d_aa.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <absl/status/status.h>
#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <system_error>
#include <utility>

#include "trainer/data/batch.h"
#include "trainer/data/images/image.h"
#include "trainer/data/item_dataset.h"
#include "trainer/io/gzip_file.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

bool IsImageFile(const fs::directory_entry& entry) {
  const std::string extension =
      absl::AsciiStrToLower(entry.path().extension().string());
  return entry.is_regular_file() &&
         (extension == ".png" || extension == ".jpg" || extension == ".jpeg");
}

absl::StatusOr<at::Tensor> ReadImage(const std::string& path, int channels) {
  const absl::StatusOr<std::string> bytes = ReadMaybeGzipFile(path);
  if (!bytes.ok()) return bytes.status();
  const absl::StatusOr<DecodedImage> image = DecodeImage(*bytes, channels);
  if (!image.ok()) {
    return absl::Status(image.status().code(),
                        absl::StrCat(path, ": ", image.status().message()));
  }
  const at::Tensor pixels =
      at::empty({static_cast<int64_t>(image->height),
                 static_cast<int64_t>(image->width), channels},
                at::kByte);
  std::memcpy(pixels.data_ptr(), image->pixels.data(), image->pixels.size());
  return pixels.permute({2, 0, 1});
}

class Images final : public ItemDataset<Example> {
 public:
  Images(std::vector<std::string> files, std::vector<int64_t> labels,
         ImageFolderOptions options)
      : files_(std::move(files)),
        labels_(std::move(labels)),
        options_(std::move(options)) {}

  int64_t size() const override { return std::ssize(files_); }
  Example Get(int64_t index) const override { return GetIn(0, index); }
  Example GetIn(int64_t epoch, int64_t index) const override {
    const auto i = static_cast<size_t>(index);
    absl::StatusOr<at::Tensor> read =
        ReadImage(files_.at(i), options_.channels);
    TORCH_CHECK(read.ok(), std::string(read.status().message()));
    at::Tensor image = *std::move(read);
    if (options_.height && (image.size(1) != *options_.height ||
                            image.size(2) != *options_.width)) {
      image = at::_upsample_bilinear2d_aa(image.unsqueeze(0).contiguous(),
                                          {*options_.height, *options_.width},
                                          /*align_corners=*/false)
                  .squeeze(0);
    }
    if (options_.transform) {
      SampleRandom random(SampleKey(options_.seed, epoch, index));
      image = options_.transform(std::move(image), random);
    }
    return {image, at::full({}, labels_[i], at::kLong)};
  }

 private:
  std::vector<std::string> files_;
  std::vector<int64_t> labels_;
  ImageFolderOptions options_;
};

}  // namespace

absl::StatusOr<ImageFolder> OpenImageFolder(const std::string& path,
                                            const ImageFolderOptions& options) {
  TORCH_CHECK_VALUE(options.channels == 1 || options.channels == 3,
                    "OpenImageFolder: channels is ", options.channels,
                    "; it must be 1 or 3");
  TORCH_CHECK_VALUE(options.height.has_value() == options.width.has_value(),
                    "OpenImageFolder: only one of height and width is set; set "
                    "both or neither");
  TORCH_CHECK_VALUE(
      !options.height || (*options.height > 0 && *options.width > 0),
      "OpenImageFolder: height is ", options.height.value_or(0),
      " and width is ", options.width.value_or(0), "; both must be above 0");
  ImageFolder folder;
  std::vector<int64_t> labels;
  try {
    for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
      if (entry.is_directory())
        folder.classes.push_back(entry.path().filename().string());
    }
    std::ranges::sort(folder.classes);
    for (size_t label = 0; label < folder.classes.size(); ++label) {
      std::vector<std::string> files;
      for (const fs::directory_entry& entry : fs::recursive_directory_iterator(
               fs::path(path) / folder.classes[label])) {
        if (IsImageFile(entry)) files.push_back(entry.path().string());
      }
      std::ranges::sort(files);
      for (std::string& file : files) {
        if (options.leave_out_broken &&
            !ReadImage(file, options.channels).ok()) {
          folder.broken.push_back(std::move(file));
          continue;
        }
        folder.files.push_back(std::move(file));
        labels.push_back(static_cast<int64_t>(label));
      }
    }
  } catch (const fs::filesystem_error& error) {
    return absl::ErrnoToStatus(error.code().value(),
                               absl::StrCat(path, ": cannot be read"));
  }
  if (folder.files.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": there are ", folder.classes.size(), " folders in it, and ",
        folder.broken.empty() ? "no images" : "no images that decode",
        " in those; wanted are <class>/<image>.png or .jpg"));
  }
  folder.data =
      std::make_shared<const Images>(folder.files, std::move(labels), options);
  return folder;
}

}  // namespace trainyard
