// RunSummary is the result of a run in a dozen numbers, for scripts that
// compare runs.
//
//   const RunSummary summary{.epochs = 2, .metrics = {{"eval_loss", 0.5}}};
//   const absl::Status written = WriteRunSummary(summary, path);
//
// Free of libtorch. Thread-compatible.
#ifndef TRAINYARD_TRACKING_RUN_SUMMARY_H_
#define TRAINYARD_TRACKING_RUN_SUMMARY_H_

#include <absl/status/status.h>

#include <cstdint>
#include <map>
#include <string>

namespace trainyard {

struct RunSummary {
  int64_t epochs = 0;
  int64_t updates = 0;
  int64_t samples = 0;
  // Final values by name: "train_loss", "eval_loss", …
  std::map<std::string, double> metrics;
  // The whole run, and samples per second of training alone.
  double seconds = 0;
  double samples_per_second = 0;
  // Of model and optimizer: equal for runs with the same final weights.
  uint32_t state_crc32c = 0;
};

// One flat JSON object, one line per number. A number that is not finite
// becomes null, because JSON has none.
std::string ToJson(const RunSummary& summary);

// Writes the file atomically: an earlier file stays until the new one is
// complete.
absl::Status WriteRunSummary(const RunSummary& summary,
                             const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_TRACKING_RUN_SUMMARY_H_
