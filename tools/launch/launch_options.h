// LaunchOptions says which program to start, as how many ranks, and what to do
// when one of them fails.
//
//   const LaunchOptions options = ParseLaunchOptions(
//       {"--nproc=2", "--", "fashion_mnist_ranks", "--backend=ddp"});
//
// Thread-compatible.
#ifndef TRAINYARD_TOOLS_LAUNCH_LAUNCH_OPTIONS_H_
#define TRAINYARD_TOOLS_LAUNCH_LAUNCH_OPTIONS_H_

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

// The value of a variable of the environment, if it is set.
using LaunchVariables =
    std::function<std::optional<std::string>(const char* name)>;

struct LaunchOptions {
  using Seconds = std::chrono::duration<double>;

  // Ranks on this host. REQUIRES: >= 1.
  int nproc = 1;
  // Hosts, each with its own launcher: at least and at most so many. The number
  // of this one; unset: the first launcher to join gets 0, the next one 1.
  // REQUIRES: 1 <= min_nodes <= max_nodes; 0 <= node_rank < max_nodes.
  int min_nodes = 1;
  int max_nodes = 1;
  std::optional<int> node_rank = std::nullopt;
  // One host: where rank 0 serves the store; port 0: any free one. Several:
  // where the coordinator listens, on the first host.
  std::string master_addr = "127.0.0.1";
  int master_port = 0;
  // How long to wait for more than min_nodes hosts, for min_nodes of them, and
  // for a sign of life.
  Seconds join_wait{30};
  Seconds join_timeout{600};
  Seconds silence{15};
  // The network interface for messages between ranks. Empty: the one that leads
  // to rank 0.
  std::string interface;

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

  // Folder of the log files, rank0.log and so on. Empty: a new one, which is
  // removed if all ranks end with 0.
  std::string log_dir;
  // The program and its arguments.
  std::vector<std::string> command;

  // Only print what --help prints.
  bool help = false;
  // Only write the options to this file, as LaunchConfig gives them. Empty: no.
  std::string write_config;

  bool several_nodes() const { return max_nodes > 1; }
};

// Reads the arguments, and the file of --config for what they leave out. Where
// these say nothing of the hosts, the variables PET_NNODES, PET_NODE_RANK,
// PET_NPROC_PER_NODE, PET_MASTER_ADDR and PET_MASTER_PORT count, which Kubeflow
// sets; with --nnodes=auto also those of Slurm and of Kubernetes' Indexed Jobs.
// Throws std::invalid_argument with the setting and its value.
LaunchOptions ParseLaunchOptions(const std::vector<std::string>& arguments);
LaunchOptions ParseLaunchOptions(const std::vector<std::string>& arguments,
                                 const LaunchVariables& variables);

// The options as the text of a file for --config, without those that belong to
// one host or one launch: node_rank and the command.
std::string LaunchConfig(const LaunchOptions& options);

// The text of --help.
std::string LaunchUsage();

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_LAUNCH_OPTIONS_H_
