#include "trainer/checkpoint/pt/weights_file.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <string_view>
#include <utility>

#include "trainer/checkpoint/pt/pt_file.h"
#include "trainer/checkpoint/safetensors/sharded_safetensors.h"
#include "trainer/io/input_file.h"

namespace trainyard {
namespace {

// The first bytes of a zip archive, and of a file of PyTorch before 1.6.
constexpr std::string_view kZip = "PK\x03\x04";
constexpr std::string_view kOldPickle = "\x80\x02\x8a\x0a";

bool IsPtFile(const std::string& path) {
  const absl::StatusOr<InputFile> file = InputFile::Open(path);
  if (!file.ok() || file->size() < kZip.size()) return false;
  std::string start(kZip.size(), '\0');
  return file->ReadAt(0, start.data(), start.size()).ok() &&
         (start == kZip || start == kOldPickle);
}

}  // namespace

absl::StatusOr<std::vector<NamedTensor>> ReadWeights(const std::string& path,
                                                     const PtOptions& options) {
  if (IsPtFile(path)) {
    absl::StatusOr<PtFile> file = ReadPtFile(path, options);
    if (!file.ok()) return file.status();
    return std::move(file->tensors);
  }
  if (options.key.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": key is \"", *options.key,
                     "\", and the file is no .pt file: only those have keys"));
  }
  return ReadShardedSafetensors(path);
}

}  // namespace trainyard
