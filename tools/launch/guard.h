// RunGuarded runs a function in a process of its own, so that whatever happens
// to this process or to that one, no descendant is left behind:
//
//   return RunGuarded([](int alive) {
//     …  // start things, watch `alive`
//     return 0;
//   });
//
// The function's process is in a session of its own, away from a terminal's
// Ctrl-C and from a kill of this process's group. It gets a file descriptor
// that reports end of file once this process has ended, even by SIGKILL; it
// must then kill what it started and return. SIGINT, SIGTERM and SIGHUP of this
// process are sent on to it. If it is itself killed, this process ends its
// descendants.
//
// For programs with one thread.
#ifndef TRAINYARD_TOOLS_LAUNCH_GUARD_H_
#define TRAINYARD_TOOLS_LAUNCH_GUARD_H_

#include <functional>

namespace trainyard {

// What the function returned, or 128 + the signal that ended its process.
// Throws std::system_error if no process can be made.
int RunGuarded(const std::function<int(int alive)>& work);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_GUARD_H_
