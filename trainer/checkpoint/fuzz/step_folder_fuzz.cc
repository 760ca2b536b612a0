// Fuzzes a whole folder: the input is the message of a manifest and the bytes
// of three files, separated by a special line. In half of the cases the sizes
// and checksums of the manifest are corrected, so that the code after these
// checks is tested too.
#include <cstdlib>
#include <string>
#include <vector>

#include "trainer/checkpoint/folder/run_folder.h"
#include "trainer/checkpoint/format/frame.h"
#include "trainer/checkpoint/format/manifest.h"
#include "trainer/checkpoint/format/step_reader.h"
#include "trainer/checkpoint/fuzz/fuzz_entry.h"
#include "trainer/io/crc32c.h"
#include "trainer/io/testing/memory_file_system.h"

namespace trainyard {
namespace {

constexpr std::string_view kDivision = "\n--\n";
constexpr char kFolder[] = "/run/step-0000000001";

std::vector<std::string> Divide(std::string_view bytes) {
  std::vector<std::string> parts;
  for (size_t at = 0; parts.size() < 4;) {
    const size_t end = bytes.find(kDivision, at);
    parts.emplace_back(bytes.substr(at, end - at));
    if (end == bytes.npos) break;
    at = end + kDivision.size();
  }
  parts.resize(4);
  return parts;
}

// Corrects what the manifest says about a file, as far as that is easy.
void PutRight(const std::vector<std::string>& parts, pb::Manifest& manifest) {
  for (int i = 0; i < manifest.files_size() && i < 3; ++i) {
    const std::string& content = parts[static_cast<size_t>(i) + 1];
    pb::FileEntry& file = *manifest.mutable_files(i);
    file.set_size(content.size());
    file.set_crc32c(Crc32c(content.data(), content.size()));
    for (pb::TensorEntry& tensor : *file.mutable_tensors()) {
      if (tensor.offset() > content.size() ||
          tensor.size() > content.size() - tensor.offset()) {
        continue;
      }
      tensor.set_crc32c(
          Crc32c(content.data() + tensor.offset(), tensor.size()));
    }
  }
}

}  // namespace

void FuzzOne(std::string_view bytes) {
  if (bytes.empty()) return;
  const bool put_right = bytes[0] % 2 == 0;
  const std::vector<std::string> parts = Divide(bytes.substr(1));
  pb::Manifest manifest;
  if (!manifest.ParseFromString(parts[0])) return;
  if (put_right) PutRight(parts, manifest);
  MemoryFileSystem files;
  for (int i = 0; i < manifest.files_size() && i < 3; ++i) {
    if (!IsFileName(manifest.files(i).name())) continue;
    files.Put(std::string(kFolder) + "/" + manifest.files(i).name(),
              parts[static_cast<size_t>(i) + 1]);
  }
  files.Put(std::string(kFolder) + "/manifest.pb",
            Framed(kManifestMagic, manifest.SerializeAsString()));
  const auto step = StepReader::Open(kFolder, files);
  const bool sound = step.ok() && step->VerifyAll().ok();
  auto run = RunFolder::Open("/run", Access::kRead, files);
  const auto listing = run->List();
  if (!listing.ok() || listing->steps.size() != (step.ok() ? 1 : 0)) {
    std::abort();
  }
  (void)sound;
}

}  // namespace trainyard
