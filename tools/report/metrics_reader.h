// MetricsReader reads a run's metrics.jsonl, and later only what was added.
//
//   MetricsReader reader("run/metrics.jsonl");
//   reader.Refresh();
//   reader.series().at("train_loss").values;
//
// A last line without an end is left for later. A file that was cut back or
// replaced is read anew. Thread-compatible.
#ifndef TRAINYARD_TOOLS_REPORT_METRICS_READER_H_
#define TRAINYARD_TOOLS_REPORT_METRICS_READER_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

// The values of one metric, in the order of the file. NaN: not a finite number.
struct Series {
  std::vector<double> steps;
  std::vector<double> times;
  std::vector<double> values;
};

class MetricsReader {
 public:
  explicit MetricsReader(std::string path) : path_(std::move(path)) {}

  // A file that is not there (yet) is an empty one.
  void Refresh();

  const std::map<std::string, Series>& series() const { return series_; }
  // Lines that are no rows of numbers.
  int64_t bad_lines() const { return bad_lines_; }

 private:
  void Reset();
  void ReadLine(std::string_view line);

  const std::string path_;
  std::map<std::string, Series> series_;
  int64_t bad_lines_ = 0;
  uint64_t offset_ = 0;
  // The last whole line, to see that the file is still the same.
  std::string last_line_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_REPORT_METRICS_READER_H_
