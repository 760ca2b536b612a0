// RunData is what a report shows of one run folder: run.json, summary.json,
// metrics.jsonl and the checkpoints there.
//
//   RunData run("runs/first");
//   run.Refresh();
//   const std::string json = run.ToJson(/*most_points=*/4096);
//
// Whatever is missing is left out; what cannot be read is named in the JSON.
// Thread-compatible.
#ifndef TRAINYARD_TOOLS_REPORT_RUN_DATA_H_
#define TRAINYARD_TOOLS_REPORT_RUN_DATA_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/report/metrics_reader.h"

namespace trainyard {

class RunData {
 public:
  explicit RunData(const std::string& folder);

  // Reads what is new.
  void Refresh();

  // For a <script>: nothing in it ends one.
  std::string ToJson(size_t most_points) const;
  // More points of the lines that ToJson merges: see FineJson.
  std::string ToFineJson(size_t most_points, size_t bytes) const;

 private:
  std::string ReadJson(const std::string& file);
  void ReadCheckpoints();

  const std::string folder_;
  const std::string name_;
  MetricsReader metrics_;
  // JSON, or "null".
  std::string info_;
  std::string summary_;
  // Name and bytes.
  std::vector<std::pair<std::string, uint64_t>> checkpoints_;
  std::vector<std::string> problems_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_REPORT_RUN_DATA_H_
