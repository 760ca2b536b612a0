#include "tools/report/metrics_reader.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/io/input_file.h"
#include "trainer/io/json_reader.h"

namespace trainyard {
namespace {

constexpr size_t kPiece = 1 << 20;

}  // namespace

void MetricsReader::Reset() {
  series_.clear();
  bad_lines_ = 0;
  offset_ = 0;
  last_line_.clear();
}

void MetricsReader::Refresh() {
  const absl::StatusOr<InputFile> file = InputFile::Open(path_);
  if (!file.ok()) return Reset();
  std::string seen(last_line_.size(), '\0');
  if (file->size() < offset_ ||
      !file->ReadAt(offset_ - seen.size(), seen.data(), seen.size()).ok() ||
      seen != last_line_) {
    Reset();
  }
  std::string text;
  for (uint64_t at = offset_; at < file->size();) {
    const size_t size = std::min<uint64_t>(kPiece, file->size() - at);
    const size_t kept = text.size();
    text.resize(kept + size);
    if (!file->ReadAt(at, text.data() + kept, size).ok()) return;
    at += size;
    size_t start = 0;
    for (size_t end; (end = text.find('\n', start)) != std::string::npos;
         start = end + 1) {
      ReadLine(std::string_view(text).substr(start, end - start));
      last_line_ = text.substr(start, end + 1 - start);
    }
    offset_ += start;
    text.erase(0, start);
  }
}

void MetricsReader::ReadLine(std::string_view line) {
  JsonReader json(line);
  double step = NAN;
  double time = NAN;
  std::vector<std::pair<std::string, double>> row;
  std::string key;
  json.BeginObject();
  while (json.NextKey(key)) {
    double value = NAN;
    if (!json.ReadNull()) json.ReadDouble(value);
    if (key == "step") {
      step = value;
    } else if (key == "time") {
      time = value;
    } else {
      row.emplace_back(key, value);
    }
  }
  json.End();
  if (!json.ok() || std::isnan(step) || std::isnan(time)) {
    ++bad_lines_;
    return;
  }
  for (const auto& [name, value] : row) {
    Series& series = series_[name];
    series.steps.push_back(step);
    series.times.push_back(time);
    series.values.push_back(value);
  }
}

}  // namespace trainyard
