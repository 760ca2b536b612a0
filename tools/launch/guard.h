// RunGuarded runs a function in a child process and makes sure that no
// descendant is left behind, even if this process or the child is killed.
//
//   return RunGuarded([&](int alive) {
//     return AnnouncingErrors(
//         [&] { return RunLauncher(options, program, alive); });
//   });
//
// The child has its own session: Ctrl-C in the terminal and a kill of this
// process's group do not reach it. The signals of kPassedOnSignals are passed
// on to it. `alive` reports end of file when this process has ended, also by
// SIGKILL; the function must then kill what it started and return. If the child
// is killed, this process kills its descendants.
//
// For programs with one thread.
#ifndef TRAINYARD_TOOLS_LAUNCH_GUARD_H_
#define TRAINYARD_TOOLS_LAUNCH_GUARD_H_

#include <signal.h>
#include <sys/types.h>

#include <functional>
#include <optional>

namespace trainyard {

// The signals by which users and schedulers ask for the end, and SIGQUIT, which
// asks for a record of the ranks' last calls.
inline constexpr int kPassedOnSignals[] = {SIGINT,  SIGTERM, SIGHUP,
                                           SIGUSR1, SIGUSR2, SIGQUIT};

// Whether it asks for the end. SIGQUIT, the signals of TRAINYARD_SAVE_SIGNALS
// and SIGCHLD do not. Throws std::invalid_argument if that variable has no
// names of signals.
bool AsksForEnd(int signal);

// Returns what `work` returned, or 128 + the signal that ended the child.
// Throws std::system_error if the child cannot be started.
// `companion`: another child of this process, without which the work has no
// use: if it ends first with another code than 0, the work is killed. When the
// work has returned, the companion has six seconds to end by itself.
int RunGuarded(const std::function<int(int alive)>& work,
               std::optional<pid_t> companion = std::nullopt);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_GUARD_H_
