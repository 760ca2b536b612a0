// HostRanks starts all ranks of this host once and runs until the last of them
// has ended. It prints their output, passes signals on, and ends the other
// ranks when one fails.
//
//   ranks.Start();
//   const GroupEnd end = ranks.Run();
//
// For programs with one thread.
#ifndef TRAINYARD_TOOLS_LAUNCH_HOST_RANKS_H_
#define TRAINYARD_TOOLS_LAUNCH_HOST_RANKS_H_

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/processes/listening_socket.h"
#include "tools/launch/launch_options.h"
#include "tools/launch/node_link.h"
#include "tools/launch/rank_environment.h"
#include "tools/launch/rank_output.h"
#include "tools/launch/rank_process.h"

namespace trainyard {

struct GroupEnd {
  // All ranks ended with 0; one failed; a signal asked for the end; the
  // coordinator asked for it, or is lost; the process that guards this one has
  // ended.
  enum class How { kFinished, kFailed, kCancelled, kStopped, kAbandoned };
  How how = How::kFinished;
  int exit_code = 0;
};

// What happens outside of the ranks. All is borrowed.
struct HostEvents {
  // A signalfd of SIGCHLD and of the signals to pass on, which must be blocked.
  int signal_fd = -1;
  // See RunGuarded.
  int alive_fd = -1;
  // To the coordinator, if there are several hosts.
  NodeLink* link = nullptr;
};

class HostRanks {
 public:
  // `store`: the socket that rank 0 inherits, if it is on this host.
  HostRanks(const LaunchOptions& options, const std::string& program,
            const RankPlan& plan, const HostEvents& events,
            const ListeningSocket* store = nullptr);

  // Starts the processes. Throws std::runtime_error if the program cannot be
  // run; no rank runs then.
  void Start();
  // Runs until all have ended. REQUIRES: Start was called.
  GroupEnd Run();

  // The last order to end this start of the ranks, if one came.
  const std::optional<Order>& last_order() const { return last_order_; }

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

  void StartAll();
  bool AllEnded() const;
  void WaitForEvents();
  int PollTimeout() const;
  void ReadSignals();
  void ReadOrders();
  void Reap();
  void OnEnded(Rank& rank, int status);
  void Fail(Rank& rank, const std::string& what, int code);
  void Cancel(int signal, const std::string& why);
  void EndRanks(int signal, LaunchOptions::Seconds grace);
  void KillAll();
  void CheckTimes();
  void Drain(Rank& rank);

  const LaunchOptions& options_;
  const std::string program_;
  const RankPlan plan_;
  const HostEvents events_;
  const ListeningSocket* const store_;
  const Time start_;
  std::vector<Rank> ranks_;
  GroupEnd end_;
  const Rank* first_failed_ = nullptr;
  std::string failure_;
  int cancelled_by_ = 0;
  std::optional<Order> last_order_;
  std::optional<Time> kill_at_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_HOST_RANKS_H_
