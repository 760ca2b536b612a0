// Descendants are the processes that a process has started, and those that they
// have started.
//
//   AdoptOrphans();  // once, before a process is started
//   …
//   KillDescendants(kKillWait);  // also those that became daemons
//
// Linux only. For processes with one thread.
#ifndef TRAINYARD_TOOLS_LAUNCH_DESCENDANTS_H_
#define TRAINYARD_TOOLS_LAUNCH_DESCENDANTS_H_

#include <sys/types.h>

#include <chrono>
#include <vector>

namespace trainyard {

// Makes descendants whose parent ends children of this process from now on.
void AdoptOrphans();

// Returns the children of this process, with ended ones that are not waited
// for yet.
std::vector<pid_t> Children();

// Sends SIGKILL to all descendants and waits for them. Returns false if some
// still run after `wait` (in a system call that cannot be interrupted).
// REQUIRES: AdoptOrphans() was called.
bool KillDescendants(std::chrono::duration<double> wait);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_DESCENDANTS_H_
