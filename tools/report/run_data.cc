#include "tools/report/run_data.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "tools/report/decimate.h"
#include "tools/report/fine_points.h"
#include "trainer/checkpoint/input_file.h"
#include "trainer/checkpoint/json_reader.h"
#include "trainer/checkpoint/json_string.h"
#include "trainer/checkpoint/utf8.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

// More is not ours.
constexpr uint64_t kLargestJson = 1 << 22;

std::string Quoted(const std::string& text) {
  return JsonQuoted(ValidUtf8Prefix(text) == text.size() ? text
                                                         : "(not UTF-8)");
}

// As exact as a picture needs: the digits of a 32-bit float.
void AppendFloat(std::string& json, double value) {
  if (!std::isfinite(static_cast<float>(value))) {
    json += "null";
    return;
  }
  char digits[32];
  const auto end =
      std::to_chars(digits, digits + sizeof(digits), static_cast<float>(value))
          .ptr;
  json.append(digits, end);
}

void AppendArray(std::string& json, const char* name,
                 const std::vector<double>& values) {
  json += std::string(json.back() == '{' ? "" : ",") + "\"" + name + "\":[";
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) json += ',';
    AppendFloat(json, values[i]);
  }
  json += ']';
}

// Steps are whole numbers, of which a float has too few.
void AppendSteps(std::string& json, const std::vector<double>& steps) {
  json += "\"s\":[";
  for (size_t i = 0; i < steps.size(); ++i) {
    if (i > 0) json += ',';
    json += std::to_string(static_cast<int64_t>(steps[i]));
  }
  json += ']';
}

std::string ToJson(const Series& series, double start, size_t most) {
  Decimated line = Decimate(series, most);
  for (double& time : line.times) time -= start;
  std::string json = "{";
  AppendSteps(json, line.steps);
  AppendArray(json, "t", line.times);
  AppendArray(json, "v", line.means);
  if (!line.lows.empty()) {
    AppendArray(json, "lo", line.lows);
    AppendArray(json, "hi", line.highs);
  }
  return json + "}";
}

double StartOf(const std::map<std::string, Series>& all) {
  double start = INFINITY;
  for (const auto& [name, series] : all) {
    start = std::min(start, series.times.front());
  }
  return start;
}

// The last value of each metric, for runs that have no summary yet.
std::string LatestJson(const std::map<std::string, Series>& all) {
  std::string json = "{";
  double step = 0;
  for (const auto& [name, series] : all) {
    step = std::max(step, series.steps.back());
    if (name.rfind("epoch/", 0) == 0) continue;
    json += Quoted(name) + ":";
    AppendFloat(json, series.values.back());
    json += ",";
  }
  return json + "\"updates\":" + std::to_string(static_cast<int64_t>(step)) +
         "}";
}

// '<' stands only in strings: "</script>" would end the script around it.
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
  std::string json = "{\"name\":" + Quoted(name_) + ",\"info\":" + info_ +
                     ",\"summary\":" + summary_ +
                     ",\"latest\":" + LatestJson(metrics_.series()) +
                     ",\"series\":{";
  for (const auto& [name, series] : metrics_.series()) {
    if (json.back() != '{') json += ',';
    json += Quoted(name) + ":" + trainyard::ToJson(series, start, most_points);
  }
  json += "},\"checkpoints\":[";
  for (const auto& [name, bytes] : checkpoints_) {
    if (json.back() != '[') json += ',';
    json += "{\"name\":" + Quoted(name) +
            ",\"bytes\":" + std::to_string(bytes) + "}";
  }
  json += "],\"problems\":[";
  for (const std::string& problem : problems_) {
    if (json.back() != '[') json += ',';
    json += Quoted(problem);
  }
  json += "]}";
  return ForScript(std::move(json));
}

std::string RunData::ToFineJson(size_t most_points, size_t bytes) const {
  return ForScript(
      FineJson(metrics_.series(), {.most_points = most_points,
                                   .bytes = bytes,
                                   .start = StartOf(metrics_.series())}));
}

}  // namespace trainyard
