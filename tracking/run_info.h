// RunInfo describes a run at its start: command, configuration, machine. The
// report shows it.
//
//   RunInfo info = RunInfoOfThisProcess();
//   info.config = {{"epochs", "5"}};
//   const absl::Status written = WriteRunInfo(info, path);
//
// Free of libtorch. Thread-compatible.
#ifndef TRAINYARD_TRACKING_RUN_INFO_H_
#define TRAINYARD_TRACKING_RUN_INFO_H_

#include <absl/status/status.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace trainyard {

struct RunInfo {
  using Pairs = std::vector<std::pair<std::string, std::string>>;

  // Seconds since 1970.
  double started = 0;
  // The update that the run was resumed at; 0 for a new run.
  int64_t resumed_at = 0;
  std::string command;
  Pairs config;
  Pairs environment;
  // A Markdown table of callbacks and their hooks: CallbackHandler::Describe.
  std::string hooks;
};

// Time, command line, host, processors, compiler.
RunInfo RunInfoOfThisProcess();

std::string ToJson(const RunInfo& info);

// Writes the file atomically: completely or not at all.
absl::Status WriteRunInfo(const RunInfo& info, const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_TRACKING_RUN_INFO_H_
