// RunNode is the launcher of one node among several: it joins the others at the
// coordinator, starts this node's ranks when all are there, and does so again
// after every failure, here or elsewhere, until the coordinator ends the run.
//
//   RunNode(options, program, signals.fd(), alive)
//
// For programs with one thread.
#ifndef TRAINYARD_TOOLS_LAUNCH_NODE_LAUNCHER_H_
#define TRAINYARD_TOOLS_LAUNCH_NODE_LAUNCHER_H_

#include <sys/types.h>

#include <optional>
#include <string>

#include "tools/launch/launch_options.h"

namespace trainyard {

// Returns the exit code of the run. `signal_fd` and `alive`: see HostEvents.
int RunNode(const LaunchOptions& options, const std::string& program,
            int signal_fd, int alive);

// Starts the coordinator as a child of this process if this host is the one to
// have it: node 0 or, without numbers, the one that has master_addr. Throws
// std::runtime_error if node 0 cannot listen there.
std::optional<pid_t> StartCoordinator(const LaunchOptions& options);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_NODE_LAUNCHER_H_
