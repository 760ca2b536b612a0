// MetricsReader reads a run's metrics.jsonl. Each Refresh reads only the lines
// that were appended since the last one.
//
//   MetricsReader reader(path);
//   reader.Refresh();
//   const std::vector<double>& losses = reader.series().at("train_loss").values;
//
// An incomplete last line is read by a later Refresh. A file that became
// shorter or was replaced is read from the start. Thread-compatible.
#ifndef TRAINYARD_TOOLS_REPORT_METRICS_READER_H_
#define TRAINYARD_TOOLS_REPORT_METRICS_READER_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

// The values of one metric, in the order of the file. A value that is not
// finite is NaN.
struct Series {
  std::vector<double> steps;
  std::vector<double> times;
  std::vector<double> values;
};

class MetricsReader {
 public:
  explicit MetricsReader(std::string path) : path_(std::move(path)) {}

  // A missing file counts as empty.
  void Refresh();

  const std::map<std::string, Series>& series() const { return series_; }
  // The number of malformed lines.
  int64_t bad_lines() const { return bad_lines_; }

 private:
  void Reset();
  void ReadLine(std::string_view line);

  const std::string path_;
  std::map<std::string, Series> series_;
  int64_t bad_lines_ = 0;
  uint64_t offset_ = 0;
  // The last complete line, to notice that the file was replaced.
  std::string last_line_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_REPORT_METRICS_READER_H_
