#include "callbacks/weights/weights_folder.h"

#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "trainer/checkpoint/safetensors/safetensors.h"
#include "trainer/checkpoint/state_crc32c.h"
#include "trainer/io/atomic_file.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kSuffix = ".safetensors";
constexpr std::string_view kOld = "old-";
constexpr char kLink[] = "best.safetensors";
constexpr char kCrc[] = "crc32c";

// The step of a file's name; none for other files.
std::optional<int64_t> StepOf(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return {};
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(kSuffix.size());
  int64_t step = 0;
  const auto [end, error] =
      std::from_chars(name.data(), name.data() + name.size(), step);
  if (error != std::errc() || end != name.data() + name.size()) return {};
  return step;
}

absl::Status Failed(const std::string& what, const std::error_code& error) {
  return absl::UnavailableError(what + ": " + error.message());
}

std::vector<fs::path> FilesIn(const std::string& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    files.push_back(entry.path());
  }
  return files;
}

}  // namespace

std::string WeightsFolder::PathOf(int64_t step) const {
  return directory_ + "/" + std::string(kPrefix) + std::to_string(step) +
         std::string(kSuffix);
}

bool WeightsFolder::Has(int64_t step) const {
  std::error_code error;
  return fs::exists(PathOf(step), error);
}

absl::Status WeightsFolder::Write(
    int64_t step, const std::vector<NamedTensor>& weights,
    std::map<std::string, std::string> about) const {
  std::error_code error;
  fs::create_directories(directory_, error);
  if (error) return Failed("cannot make " + directory_, error);
  std::vector<NamedTensor> sorted = weights;  // as Read gives them
  SortByName(sorted);
  about["format"] = "pt";
  about[kCrc] = std::to_string(StateCrc32c(sorted));
  return WriteSafetensors(PathOf(step), sorted, about);
}

absl::StatusOr<std::vector<NamedTensor>> WeightsFolder::Read(
    int64_t step) const {
  const std::string path = PathOf(step);
  absl::StatusOr<Safetensors> file = ReadSafetensors(path);
  if (!file.ok()) return file.status();
  const auto crc = file->metadata.find(kCrc);
  if (crc == file->metadata.end() ||
      crc->second != std::to_string(StateCrc32c(file->tensors))) {
    return absl::DataLossError(path + " is damaged: its checksum is wrong");
  }
  return std::move(file->tensors);
}

absl::Status WeightsFolder::Point(int64_t step) const {
  // A link cannot be replaced in place, but by another one.
  const fs::path next =
      fs::path(directory_) / (std::string(AtomicFile::kPrefix) + kLink);
  std::error_code error;
  fs::remove(next, error);
  fs::create_symlink(fs::path(PathOf(step)).filename(), next, error);
  if (!error) fs::rename(next, fs::path(directory_) / kLink, error);
  return error
             ? Failed("cannot make the link " + directory_ + "/" + kLink, error)
             : absl::OkStatus();
}

void WeightsFolder::Retain(const std::set<int64_t>& steps) const {
  for (const fs::path& file : FilesIn(directory_)) {
    const std::string name = file.filename().string();
    const std::optional<int64_t> step = StepOf(name);
    const bool stays =
        step ? steps.contains(*step) : !name.starts_with(AtomicFile::kPrefix);
    std::error_code error;
    if (!stays) fs::remove(file, error);
  }
}

absl::Status WeightsFolder::MoveAside() const {
  std::vector<fs::path> aside;
  for (const fs::path& file : FilesIn(directory_)) {
    if (StepOf(file.filename().string())) aside.push_back(file);
  }
  if (aside.empty()) return absl::OkStatus();
  std::error_code error;
  fs::remove(fs::path(directory_) / kLink, error);
  for (const fs::path& file : FilesIn(directory_)) {
    const std::string name = file.filename().string();
    if (name.starts_with(kOld) && StepOf(name.substr(kOld.size()))) {
      fs::remove(file, error);
    }
  }
  for (const fs::path& file : aside) {
    fs::path to = file;
    to.replace_filename(std::string(kOld) + file.filename().string());
    fs::rename(file, to, error);
    if (error) return Failed("cannot rename " + file.string(), error);
  }
  return absl::OkStatus();
}

}  // namespace trainyard
