#include "tools/launch/announce.h"

#include <string.h>
#include <sys/wait.h>

#include <cstdio>
#include <string>

namespace trainyard {

void Announce(const std::string& line) {
  std::fprintf(stderr, "launch: %s\n", line.c_str());
}

void AnnounceFailure(int rank, const std::string& how,
                     const RankOutput& output) {
  std::string text = "the first to fail was rank " + std::to_string(rank) +
                     ", which " + how + "; all it printed is in " +
                     output.log_file();
  for (const std::string& line : output.LastLines()) text += "\n    " + line;
  Announce(text);
}

std::string SignalName(int signal) {
  const char* name = sigabbrev_np(signal);
  return name == nullptr ? "signal " + std::to_string(signal)
                         : "SIG" + std::string(name);
}

std::string DescribeEnd(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return "was killed by " + SignalName(signal) + " (signal " +
           std::to_string(signal) + ")";
  }
  return "ended with exit code " + std::to_string(WEXITSTATUS(status));
}

std::string DescribeSeconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g s", seconds);
  return text;
}

}  // namespace trainyard
