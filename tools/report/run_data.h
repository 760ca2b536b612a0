// RunData reads everything that a report shows of one run folder: run.json,
// summary.json, metrics.jsonl and the list of checkpoints.
//
//   RunData run(folder);
//   run.Refresh();
//   const std::string json = run.ToJson(/*most_points=*/4096);
//
// Missing files are left out; the JSON names files that cannot be read.
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

  // Reads new data.
  void Refresh();

  // Safe inside <script>: contains no '<'.
  std::string ToJson(size_t most_points) const;
  // Additional points of the curves that ToJson merges; see FineJson.
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
  // Name and size in bytes.
  std::vector<std::pair<std::string, uint64_t>> checkpoints_;
  std::vector<std::string> problems_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_REPORT_RUN_DATA_H_
