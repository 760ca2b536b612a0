// Descendants: the processes a process has started, and those they started.
//
//   AdoptOrphans();           // once, before starting anything
//   ...
//   KillDescendants(seconds); // nobody is left, even what became a daemon
//
// Linux only. Thread-compatible: for processes with one thread.
#ifndef TRAINYARD_TOOLS_LAUNCH_DESCENDANTS_H_
#define TRAINYARD_TOOLS_LAUNCH_DESCENDANTS_H_

#include <sys/types.h>

#include <chrono>
#include <vector>

namespace trainyard {

// From now on a descendant whose parent ends becomes a child of this process.
void AdoptOrphans();

// The children of this process, dead ones too that nobody waited for.
std::vector<pid_t> Children();

// SIGKILL to all descendants, and waits for them. False if some are still
// there at the end of `wait` (in a system call that nothing interrupts).
// REQUIRES: AdoptOrphans() was called.
bool KillDescendants(std::chrono::duration<double> wait);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_DESCENDANTS_H_
