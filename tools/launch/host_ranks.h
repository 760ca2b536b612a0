// HostRanks starts all ranks of this host once and stays with them until the
// last has ended: it prints what they print, passes signals on, and when one
// fails ends the others.
//
//   HostRanks ranks(options, program, signal_fd, alive_fd, restarts);
//   const GroupEnd end = ranks.Run();
//
// Thread-compatible: for programs with one thread.
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
  // Every rank ended with 0, one failed, somebody asked for the end, or the
  // guard has gone.
  enum class How { kFinished, kFailed, kCancelled, kAbandoned };
  How how = How::kFinished;
  int exit_code = 0;
};

class HostRanks {
 public:
  // What a rank ends with that was told to end and did so in order, as
  // trainyard::ExitCode gives.
  static constexpr int kCancelledCode = 3;

  // `signal_fd`: a signalfd of SIGCHLD and of the signals to pass on, all
  // blocked. `alive_fd`: see RunGuarded. Both are borrowed.
  HostRanks(const LaunchOptions& options, const std::string& program,
            int signal_fd, int alive_fd, int restarts);

  // Throws std::runtime_error if the port is taken or the program cannot be
  // run; then no rank is left.
  GroupEnd Run();

 private:
  using Time = std::chrono::steady_clock::time_point;

  struct Rank {
    int number = 0;
    std::unique_ptr<RankProcess> process;
    std::unique_ptr<RankOutput> output;
    // Of standard output and standard error: nothing more will come.
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
