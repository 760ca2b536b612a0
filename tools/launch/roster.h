// Roster decides what the launchers of several nodes do together: when the
// ranks start, with which numbers, and when all of them restart or end. It is
// told what happened, and answers with lines to send. It knows no sockets and
// no clock.
//
//   Roster roster({.min_nodes = 1, .max_nodes = 1});
//   roster.Received(7, "JOIN 0 2 0 10.0.0.1 4711 n1", now);
//
// Each start has a new generation number. What a launcher says about another
// generation than the current one is ignored.
//
// A launcher sends                        and receives
//   JOIN node nproc generation address      START generation node first_rank
//        port host                                world address port restarts
//   FAILED generation code text             STOP generation text
//   FINISHED generation                     CANCEL text
//   CANCEL text                             END code text
//   CANCELLED generation code
//
// `node` is "-" for a launcher that has no number of its own. After STOP a
// launcher ends its ranks and sends JOIN again; after END it ends.
// Thread-compatible.
#ifndef TRAINYARD_TOOLS_LAUNCH_ROSTER_H_
#define TRAINYARD_TOOLS_LAUNCH_ROSTER_H_

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

struct RosterOptions {
  using Seconds = std::chrono::duration<double>;

  // The ranks start with max_nodes at once, and with fewer after join_wait.
  int min_nodes = 1;
  int max_nodes = 1;
  // How long to wait for more nodes once min_nodes are there.
  Seconds join_wait{30};
  // After so long with fewer than min_nodes the run ends.
  Seconds join_timeout{600};
  int max_restarts = 0;
  // The pause before the first restart; each further one doubles it.
  Seconds backoff{1};
};

// A line for one launcher.
struct Letter {
  int to = 0;
  std::string text;
};

class Roster {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Letters = std::vector<Letter>;

  explicit Roster(const RosterOptions& options);

  // `from` stands for a connection. A line that cannot be read ends it.
  Letters Received(int from, const std::string& line, Time now);
  // The connection is gone.
  Letters Lost(int from, Time now);
  // Time passes. Call it often.
  Letters Tick(Time now);

  // Whether END was sent to all.
  bool ended() const { return state_ == State::kEnded; }
  int64_t generation() const { return generation_; }

 private:
  enum class State { kGathering, kRunning, kCancelling, kEnded };

  struct Node {
    std::optional<int> number;
    int nproc = 1;
    std::string address;
    int port = 0;
    std::string host;
    // Takes part in the current generation.
    bool running = false;
    // Its ranks have all ended with 0, or because of a signal.
    bool done = false;
    // Joined and waits for a start.
    bool waiting = false;
  };

  Letters Join(int from, const std::string& rest, Time now);
  Letters Fail(int code, const std::string& why, Time now);
  Letters Done(int from, int code, Time now);
  Letters End(int code, const std::string& why);
  Letters Cancel(std::optional<int> from, const std::string& why);
  Letters Start();
  std::string NameOf(const Node& node) const;
  int Waiting() const;
  void AssignNumbers();

  const RosterOptions options_;
  State state_ = State::kGathering;
  std::map<int, Node> nodes_;
  std::map<std::string, int> numbers_;  // given to hosts without one
  int64_t generation_ = 0;
  int restarts_ = 0;
  int first_code_ = 0;
  int cancelled_code_ = 0;
  std::optional<Time> gathering_since_;
  std::optional<Time> last_join_;
  std::optional<Time> not_before_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_ROSTER_H_
