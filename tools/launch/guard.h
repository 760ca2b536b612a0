// RunGuarded runs a function in a child process and makes sure that no
// descendant is left behind, even if this process or the child is killed.
//
//   return RunGuarded([&](int alive) {
//     return AnnouncingErrors(
//         [&] { return RunLauncher(options, program, alive); });
//   });
//
// The child has its own session: Ctrl-C in the terminal and a kill of this
// process's group do not reach it. SIGINT, SIGTERM and SIGHUP are passed on to
// it. `alive` reports end of file when this process has ended, also by SIGKILL;
// the function must then kill what it started and return. If the child is
// killed, this process kills its descendants.
//
// For programs with one thread.
#ifndef TRAINYARD_TOOLS_LAUNCH_GUARD_H_
#define TRAINYARD_TOOLS_LAUNCH_GUARD_H_

#include <functional>

namespace trainyard {

// Returns what `work` returned, or 128 + the signal that ended the child.
// Throws std::system_error if the child cannot be started.
int RunGuarded(const std::function<int(int alive)>& work);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_GUARD_H_
