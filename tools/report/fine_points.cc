#include "tools/report/fine_points.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tools/report/decimate.h"
#include "trainer/io/json_writer.h"

namespace trainyard {
namespace {

static_assert(std::endian::native == std::endian::little);

// Points between two whose time is kept.
constexpr size_t kTimeEvery = 16;
// At most, before base64: of a point with its step, of one without, and of a
// merged one.
constexpr size_t kBytes = 9;
constexpr size_t kEvenBytes = 5;
constexpr size_t kMergedBytes = 17;
constexpr double kLargestStep = 4294967295.0;

std::string Base64(const void* data, size_t size) {
  constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto* bytes = static_cast<const unsigned char*>(data);
  std::string text;
  text.reserve((size + 2) / 3 * 4);
  for (size_t i = 0; i < size; i += 3) {
    const size_t left = std::min<size_t>(3, size - i);
    uint32_t bits = 0;
    for (size_t j = 0; j < 3; ++j)
      bits = bits << 8 | (j < left ? bytes[i + j] : 0);
    for (size_t j = 0; j < 4; ++j) {
      text += j <= left ? kDigits[bits >> (18 - 6 * j) & 63] : '=';
    }
  }
  return text;
}

template <class T>
void AppendArray(std::string& json, const char* name,
                 const std::vector<double>& values) {
  std::vector<T> packed(values.begin(), values.end());
  json += std::string(",\"") + name + "\":\"" +
          Base64(packed.data(), packed.size() * sizeof(T)) + "\"";
}

// Whether steps are evenly spaced: then two numbers tell them all.
bool AreEven(const std::vector<double>& steps) {
  for (size_t i = 2; i < steps.size(); ++i) {
    if (steps[i] - steps[i - 1] != steps[1] - steps[0]) return false;
  }
  return true;
}

std::string Pack(const Decimated& line, double start) {
  const size_t size = line.steps.size();
  std::string json = "{\"n\":" + std::to_string(size);
  if (AreEven(line.steps)) {
    const auto first = static_cast<int64_t>(line.steps[0]);
    json += ",\"s0\":" + std::to_string(first) + ",\"ds\":" +
            std::to_string(static_cast<int64_t>(line.steps[1]) - first);
  } else {
    AppendArray<uint32_t>(json, "s", line.steps);
  }
  std::vector<double> times;
  for (size_t i = 0; i < size; i += kTimeEvery) times.push_back(line.times[i]);
  times.push_back(line.times.back());
  for (double& time : times) time -= start;
  json += ",\"every\":" + std::to_string(kTimeEvery);
  AppendArray<float>(json, "t", times);
  AppendArray<float>(json, "v", line.means);
  if (!line.lows.empty()) {
    AppendArray<float>(json, "lo", line.lows);
    AppendArray<float>(json, "hi", line.highs);
  }
  return json + "}";
}

}  // namespace

std::string FineJson(const std::map<std::string, Series>& series,
                     const FineOptions& options) {
  size_t total = 0;
  size_t points_of_all = 0;
  const auto is_long = [&](const Series& line) {
    return line.values.size() > std::max<size_t>(options.most_points, 1) &&
           *std::min_element(line.steps.begin(), line.steps.end()) >= 0 &&
           *std::max_element(line.steps.begin(), line.steps.end()) <=
               kLargestStep;
  };
  for (const auto& [name, line] : series) {
    if (!is_long(line)) continue;
    total += line.values.size() * (AreEven(line.steps) ? kEvenBytes : kBytes);
    points_of_all += line.values.size();
  }
  const size_t budget = options.bytes / 4 * 3;
  JsonWriter json;
  json.BeginObject();
  for (const auto& [name, line] : series) {
    if (!is_long(line)) continue;
    size_t points = line.values.size();
    if (total > budget) {
      // The same share for each.
      points = static_cast<size_t>(
          static_cast<double>(points) * static_cast<double>(budget) /
          static_cast<double>(points_of_all * kMergedBytes));
      // No finer than what is drawn anyway.
      if (points <= options.most_points) continue;
    }
    json.Key(name).Raw(Pack(Decimate(line, points), options.start));
  }
  json.EndObject();
  return json.text();
}

}  // namespace trainyard
