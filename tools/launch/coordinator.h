// RunCoordinator serves the launchers of all nodes: it accepts their
// connections and does what a Roster says. The launcher of node 0 runs it as a
// process of its own.
//
//   RunCoordinator(socket, {.roster = {.min_nodes = 2, .max_nodes = 2}});
//
// For programs with one thread.
#ifndef TRAINYARD_TOOLS_LAUNCH_COORDINATOR_H_
#define TRAINYARD_TOOLS_LAUNCH_COORDINATOR_H_

#include "backends/processes/listening_socket.h"
#include "tools/launch/roster.h"

namespace trainyard {

struct CoordinatorOptions {
  RosterOptions roster = {};
  // A launcher that says nothing for so long is gone.
  RosterOptions::Seconds silence{15};
};

// Returns when the run has ended and the launchers know it.
void RunCoordinator(const ListeningSocket& socket,
                    const CoordinatorOptions& options);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_COORDINATOR_H_
