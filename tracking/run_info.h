// RunInfo is what is known of a run when it starts: who runs it where, with
// what configuration. The report shows it.
//
//   RunInfo info = RunInfoOfThisProcess();
//   info.config = {{"epochs", "5"}};
//   const absl::Status written = WriteRunInfo(info, "/tmp/run/run.json");
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
  // The update it goes on from; 0: it is new.
  int64_t resumed_at = 0;
  std::string command;
  Pairs config;
  Pairs environment;
  // A Markdown table of who runs when, as CallbackHandler::Describe gives.
  std::string hooks;
};

// Time, command line, host, processors, compiler.
RunInfo RunInfoOfThisProcess();

std::string ToJson(const RunInfo& info);

// Writes it as a whole or not at all.
absl::Status WriteRunInfo(const RunInfo& info, const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_TRACKING_RUN_INFO_H_
