#include "tracking/run_summary.h"

#include <absl/status/statusor.h>
#include <absl/strings/str_format.h>

#include <cmath>

#include "trainer/io/atomic_file.h"
#include "trainer/io/json_writer.h"

namespace trainyard {
namespace {

// Nine digits are enough to compare runs by.
std::string Number(double value) {
  return std::isfinite(value) ? absl::StrFormat("%.9g", value) : "null";
}

}  // namespace

std::string ToJson(const RunSummary& summary) {
  JsonWriter json(JsonWriter::Layout::kLines);
  json.BeginObject();
  json.Key("epochs").Int(summary.epochs);
  json.Key("updates").Int(summary.updates);
  json.Key("samples").Int(summary.samples);
  for (const auto& [name, value] : summary.metrics) {
    json.Key(name).Raw(Number(value));
  }
  json.Key("seconds").Raw(Number(summary.seconds));
  json.Key("samples_per_second").Raw(Number(summary.samples_per_second));
  json.Key("state_crc32c").Int(summary.state_crc32c);
  json.EndObject();
  return json.text() + "\n";
}

absl::Status WriteRunSummary(const RunSummary& summary,
                             const std::string& path) {
  return WriteFileAtomically(path, ToJson(summary));
}

}  // namespace trainyard
