// Record is one item that a run writes: a row of numbers, a histogram, an
// image, a text or the run's hyperparameters, each at a step and a time.
//
//   const tracking::Record record{
//       .step = 10,
//       .time = 1.7e9,
//       .what = tracking::Row{{"loss", 0.5}, {"lr", 0.1}}};
//
// The names are common words, so they are in a namespace of their own.
//
// Free of libtorch. Thread-compatible: value types.
#ifndef TRAINYARD_TRACKING_SINKS_RECORD_H_
#define TRAINYARD_TRACKING_SINKS_RECORD_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace trainyard::tracking {

// Numbers that were measured together, by name. REQUIRES: no name twice, and
// neither "step" nor "time".
using Row = std::vector<std::pair<std::string, double>>;

// The distribution of values; see MakeHistogram.
struct Histogram {
  std::string name;
  double min = 0;
  double max = 0;
  double count = 0;
  double sum = 0;
  double sum_of_squares = 0;
  // Bucket i counts the values above upper_limits[i - 1] and up to
  // upper_limits[i].
  std::vector<double> upper_limits;
  std::vector<double> counts;
};

struct Image {
  std::string name;
  int64_t width = 0;
  int64_t height = 0;
  // 1: grey, 3: red, green, blue, 4: with opacity.
  int64_t channels = 1;
  // Row by row, pixel by pixel, channel by channel.
  // REQUIRES: width * height * channels.
  std::vector<uint8_t> pixels;
};

// Viewers that can show it as Markdown.
struct Text {
  std::string name;
  std::string text;
};

// The settings in which runs differ, and the metrics to compare them by.
struct HyperParameters {
  std::map<std::string, std::variant<double, bool, std::string>> values;
  std::vector<std::string> metrics;
};

struct Record {
  // Updates done.
  int64_t step = 0;
  // Seconds since 1970.
  double time = 0;
  std::variant<Row, Histogram, Image, Text, HyperParameters> what;
};

}  // namespace trainyard::tracking

#endif  // TRAINYARD_TRACKING_SINKS_RECORD_H_
