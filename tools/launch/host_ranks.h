// HostRanks starts all ranks of this host once and runs until the last of them
// has ended. It prints their output, passes signals on, and ends the other
// ranks when one fails.
//
//   const GroupEnd end =
//       HostRanks(options, program, signals.fd(), alive, restarts).Run();
//
// For programs with one thread.
#ifndef TRAINYARD_TOOLS_LAUNCH_HOST_RANKS_H_
#define TRAINYARD_TOOLS_LAUNCH_HOST_RANKS_H_

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/launch/launch_options.h"
#include "tools/launch/rank_output.h"
#include "tools/launch/rank_process.h"

namespace trainyard {

struct GroupEnd {
  // All ranks ended with 0; one failed; a signal asked for the end; the process
  // that guards this one has ended.
  enum class How { kFinished, kFailed, kCancelled, kAbandoned };
  How how = How::kFinished;
  int exit_code = 0;
};

class HostRanks {
 public:
  // The exit code of a rank that ended in order because of a signal, as
  // trainyard::ExitCode gives it.
  static constexpr int kCancelledCode = 3;

  // `signal_fd`: a signalfd of SIGCHLD and of the signals to pass on, which
  // must be blocked. `alive_fd`: see RunGuarded. Both are borrowed.
  HostRanks(const LaunchOptions& options, const std::string& program,
            int signal_fd, int alive_fd, int restarts);

  // Throws std::runtime_error if the port is taken or the program cannot be
  // run; no rank runs then.
  GroupEnd Run();

 private:
  using Time = std::chrono::steady_clock::time_point;

  struct Rank {
    int number = 0;
    std::unique_ptr<RankProcess> process;
    std::unique_ptr<RankOutput> output;
    // Standard output and standard error were closed.
    bool closed[2] = {false, false};
    bool ended = false;
    std::optional<Time> stopped_at;
  };

  void Start();
  bool AllEnded() const;
  void WaitForEvents();
  int PollTimeout() const;
  void ReadSignals();
  void Reap();
  void OnEnded(Rank& rank, int status);
  void Fail(Rank& rank, const std::string& what, int code);
  void Cancel(int signal, const std::string& why);
  void KillAll();
  void CheckTimes();
  void Drain(Rank& rank);

  const LaunchOptions& options_;
  const std::string program_;
  const int signal_fd_;
  const int alive_fd_;
  const int restarts_;
  const Time start_;
  std::vector<Rank> ranks_;
  GroupEnd end_;
  const Rank* first_failed_ = nullptr;
  std::string failure_;
  std::optional<Time> kill_at_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_HOST_RANKS_H_
