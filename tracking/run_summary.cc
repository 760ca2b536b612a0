#include "tracking/run_summary.h"

#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <cmath>
#include <vector>

#include "trainer/checkpoint/atomic_file.h"

namespace trainyard {
namespace {

std::string Number(double value) {
  return std::isfinite(value) ? absl::StrFormat("%.9g", value) : "null";
}

}  // namespace

std::string ToJson(const RunSummary& summary) {
  std::vector<std::string> lines = {
      absl::StrCat("\"epochs\": ", summary.epochs),
      absl::StrCat("\"updates\": ", summary.updates),
      absl::StrCat("\"samples\": ", summary.samples)};
  for (const auto& [name, value] : summary.metrics)
    lines.push_back(absl::StrCat("\"", name, "\": ", Number(value)));
  lines.push_back(absl::StrCat("\"seconds\": ", Number(summary.seconds)));
  lines.push_back(absl::StrCat("\"samples_per_second\": ",
                               Number(summary.samples_per_second)));
  lines.push_back(absl::StrCat("\"state_crc32c\": ", summary.state_crc32c));
  return absl::StrCat("{\n  ", absl::StrJoin(lines, ",\n  "), "\n}\n");
}

absl::Status WriteRunSummary(const RunSummary& summary,
                             const std::string& path) {
  const std::string json = ToJson(summary);
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(path, json.size());
  if (!file.ok()) return file.status();
  const absl::Status appended = file->Append(json.data(), json.size());
  return appended.ok() ? file->Commit() : appended;
}

}  // namespace trainyard
