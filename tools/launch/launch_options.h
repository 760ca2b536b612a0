// LaunchOptions says which program to start, as how many ranks, and what to do
// when one of them fails.
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
  // Hosts, each with its own launcher, and the number of this one.
  // REQUIRES: 0 <= node_rank < nnodes.
  int nnodes = 1;
  int node_rank = 0;
  // Where rank 0 serves the store. Port 0: any free one, for one host only.
  std::string master_addr = "127.0.0.1";
  int master_port = 0;

  // How often all ranks are restarted after a failure, and the pause before
  // the first restart. Each further restart doubles it, up to kLongestPause.
  int max_restarts = 0;
  Seconds backoff{1};
  static constexpr Seconds kLongestPause{30};

  // The ranks get SIGTERM or SIGINT as the launcher does; after this time they
  // are killed.
  Seconds grace{30};
  // The same for the other ranks once one has failed.
  Seconds failure_grace{3};
  // A rank that is stopped (SIGSTOP) for this long has failed; 0: never.
  Seconds stopped_timeout{30};

  // Folder of the log files, rank0.log and so on; empty: a new one.
  std::string log_dir;
  // The program and its arguments.
  std::vector<std::string> command;

  // Only print what --help prints.
  bool help = false;
  // Only write the options to this file, as LaunchConfig gives them. Empty: no.
  std::string write_config;

  int world_size() const { return nproc * nnodes; }
  int first_rank() const { return node_rank * nproc; }
};

// Reads the arguments, and the file of --config for what they leave out. Throws
// std::invalid_argument with the setting and its value.
LaunchOptions ParseLaunchOptions(const std::vector<std::string>& arguments);

// The options as the text of a file for --config, without those that belong to
// one host or one launch: node_rank and the command.
std::string LaunchConfig(const LaunchOptions& options);

// The text of --help.
std::string LaunchUsage();

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_LAUNCH_OPTIONS_H_
