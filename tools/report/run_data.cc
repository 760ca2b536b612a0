#include "tools/report/run_data.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "tools/report/decimate.h"
#include "tools/report/fine_points.h"
#include "trainer/io/input_file.h"
#include "trainer/io/json_reader.h"
#include "trainer/io/json_writer.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

// A larger file is not one of ours.
constexpr uint64_t kLargestJson = 1 << 22;

// With the precision of a 32-bit float, which is enough for a plot.
void WriteFloat(double value, JsonWriter& json) {
  const auto rounded = static_cast<float>(value);
  if (!std::isfinite(rounded)) return json.Null();
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof(digits), rounded).ptr;
  json.Raw(std::string_view(digits, static_cast<size_t>(end - digits)));
}

void WriteFloats(const std::vector<double>& values, JsonWriter& json) {
  json.BeginArray();
  for (const double value : values) WriteFloat(value, json);
  json.EndArray();
}

void Write(const Series& series, double start, size_t most, JsonWriter& json) {
  Decimated line = Decimate(series, most);
  for (double& time : line.times) time -= start;
  json.BeginObject();
  // Steps are integers, which may exceed the precision of a float.
  json.Key("s").BeginArray();
  for (const double step : line.steps) json.Int(static_cast<int64_t>(step));
  json.EndArray();
  WriteFloats(line.times, json.Key("t"));
  WriteFloats(line.means, json.Key("v"));
  if (!line.lows.empty()) {
    WriteFloats(line.lows, json.Key("lo"));
    WriteFloats(line.highs, json.Key("hi"));
  }
  json.EndObject();
}

double StartOf(const std::map<std::string, Series>& all) {
  double start = INFINITY;
  for (const auto& [name, series] : all) {
    start = std::min(start, series.times.front());
  }
  return start;
}

// The last value of each metric, for runs that have no summary yet.
void WriteLatest(const std::map<std::string, Series>& all, JsonWriter& json) {
  json.BeginObject();
  double step = 0;
  for (const auto& [name, series] : all) {
    step = std::max(step, series.steps.back());
    if (name.rfind("epoch/", 0) == 0) continue;
    WriteFloat(series.values.back(), json.Key(name));
  }
  json.Key("updates").Int(static_cast<int64_t>(step));
  json.EndObject();
}

// Escapes '<', which occurs only in strings: "</script>" would end the script.
std::string ForScript(std::string json) {
  for (size_t at = 0; (at = json.find('<', at)) != std::string::npos;) {
    json.replace(at, 1, "\\u003c");
  }
  return json;
}

uint64_t BytesOf(const fs::path& folder) {
  uint64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    const uint64_t size =
        entry.is_regular_file(error) ? entry.file_size(error) : 0;
    if (!error) bytes += size;
  }
  return bytes;
}

}  // namespace

RunData::RunData(const std::string& folder)
    : folder_(folder),
      name_(
          (fs::path(folder) / "").lexically_normal().parent_path().filename()),
      metrics_(folder + "/metrics.jsonl") {}

std::string RunData::ReadJson(const std::string& file) {
  const absl::StatusOr<InputFile> input = InputFile::Open(folder_ + "/" + file);
  if (!input.ok()) return "null";
  if (input->size() > kLargestJson) {
    problems_.push_back(file + " is too large");
    return "null";
  }
  std::string text(input->size(), '\0');
  const absl::Status read = input->ReadAt(0, text.data(), text.size());
  JsonReader json(text);
  if (!read.ok() || !json.Skip() || !json.End()) {
    problems_.push_back(file + " cannot be read");
    return "null";
  }
  return text;
}

void RunData::ReadCheckpoints() {
  checkpoints_.clear();
  for (const fs::path& folder :
       {fs::path(folder_), fs::path(folder_) / "checkpoints"}) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      const std::string name = entry.path().filename();
      if (name.rfind("step-", 0) != 0 || !entry.is_directory(error)) continue;
      checkpoints_.emplace_back(name, BytesOf(entry.path()));
    }
  }
  // "step-9" before "step-10".
  std::sort(checkpoints_.begin(), checkpoints_.end(),
            [](const auto& a, const auto& b) {
              return std::pair(a.first.size(), a.first) <
                     std::pair(b.first.size(), b.first);
            });
}

void RunData::Refresh() {
  problems_.clear();
  std::error_code error;
  if (!fs::is_directory(folder_, error)) {
    problems_.push_back("there is no folder " + folder_);
  }
  info_ = ReadJson("run.json");
  summary_ = ReadJson("summary.json");
  ReadCheckpoints();
  metrics_.Refresh();
  if (metrics_.bad_lines() > 0) {
    problems_.push_back("metrics.jsonl has " +
                        std::to_string(metrics_.bad_lines()) + " bad lines");
  }
}

std::string RunData::ToJson(size_t most_points) const {
  const double start = StartOf(metrics_.series());
  JsonWriter json;
  json.BeginObject();
  json.Key("name").String(name_);
  json.Key("info").Raw(info_);
  json.Key("summary").Raw(summary_);
  WriteLatest(metrics_.series(), json.Key("latest"));
  json.Key("series").BeginObject();
  for (const auto& [name, series] : metrics_.series()) {
    Write(series, start, most_points, json.Key(name));
  }
  json.EndObject();
  json.Key("checkpoints").BeginArray();
  for (const auto& [name, bytes] : checkpoints_) {
    json.BeginObject();
    json.Key("name").String(name);
    json.Key("bytes").Int(static_cast<int64_t>(bytes));
    json.EndObject();
  }
  json.EndArray();
  json.Key("problems").BeginArray();
  for (const std::string& problem : problems_) json.String(problem);
  json.EndArray();
  json.EndObject();
  return ForScript(json.text());
}

std::string RunData::ToFineJson(size_t most_points, size_t bytes) const {
  return ForScript(
      FineJson(metrics_.series(), {.most_points = most_points,
                                   .bytes = bytes,
                                   .start = StartOf(metrics_.series())}));
}

}  // namespace trainyard
