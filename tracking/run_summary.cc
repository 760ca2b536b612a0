#include "tracking/run_summary.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <vector>

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
  const std::string temporary = path + ".tmp";
  std::FILE* file = std::fopen(temporary.c_str(), "w");
  if (file == nullptr)
    return absl::ErrnoToStatus(errno,
                               absl::StrCat(temporary, ": cannot be written"));
  const std::string json = ToJson(summary);
  const bool written =
      std::fwrite(json.data(), 1, json.size(), file) == json.size();
  const bool closed = std::fclose(file) == 0;
  if (written && closed && std::rename(temporary.c_str(), path.c_str()) == 0)
    return absl::OkStatus();
  const absl::Status error =
      absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be written"));
  std::remove(temporary.c_str());
  return error;
}

}  // namespace trainyard
