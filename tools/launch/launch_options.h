// LaunchOptions says which program to start, how often, and what to do when
// one of its processes fails.
//
//   const LaunchOptions options = ParseLaunchOptions(
//       {"--nproc=2", "--", "fashion_mnist", "--backend=ddp"});
//
// Thread-compatible.
#ifndef TRAINYARD_TOOLS_LAUNCH_LAUNCH_OPTIONS_H_
#define TRAINYARD_TOOLS_LAUNCH_LAUNCH_OPTIONS_H_

#include <chrono>
#include <string>
#include <vector>

namespace trainyard {

struct LaunchOptions {
  using Seconds = std::chrono::duration<double>;

  // Ranks on this host. REQUIRES: >= 1.
  int nproc = 1;
  // Hosts, each with its own launcher, and which of them this is.
  // REQUIRES: 0 <= node_rank < nnodes.
  int nnodes = 1;
  int node_rank = 0;
  // Where rank 0 keeps the store. A port of 0 is any free one, which only one
  // host can use.
  std::string master_addr = "127.0.0.1";
  int master_port = 0;

  // How often all ranks are started anew after a failure, and the pause before
  // the first restart; each further one doubles it, up to kLongestPause.
  int max_restarts = 0;
  Seconds backoff{1};
  static constexpr Seconds kLongestPause{30};

  // From a passed-on SIGTERM or SIGINT until what is left is killed.
  Seconds grace{30};
  // The same after one rank failed, when the others have nothing to save.
  Seconds failure_grace{3};
  // A rank that is stopped (SIGSTOP) for so long has failed; 0: never.
  Seconds stopped_timeout{30};

  // Folder of the log files, rank0.log and so on; empty: a new one.
  std::string log_dir;
  // The program and its arguments.
  std::vector<std::string> command;

  bool help = false;

  int world_size() const { return nproc * nnodes; }
  int first_rank() const { return node_rank * nproc; }
};

// Throws std::invalid_argument, naming the setting and its value.
LaunchOptions ParseLaunchOptions(const std::vector<std::string>& arguments);

// What --help prints.
std::string LaunchUsage();

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_LAUNCH_OPTIONS_H_
