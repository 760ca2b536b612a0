// RunLauncher starts the ranks, and starts them again after a failure as often
// as it may; a program that resumes from its last checkpoint goes on there.
//
//   return RunGuarded([&](int alive) {
//     return RunLauncher(options, "/path/of/program", alive);
//   });
//
// For programs with one thread.
#ifndef TRAINYARD_TOOLS_LAUNCH_LAUNCHER_H_
#define TRAINYARD_TOOLS_LAUNCH_LAUNCHER_H_

#include <chrono>
#include <string>

#include "tools/launch/launch_options.h"

namespace trainyard {

// The program's exit code: 0, the first failure's, or a cancelled rank's.
// REQUIRES: SIGCHLD, SIGINT, SIGTERM and SIGHUP are blocked, as in RunGuarded.
int RunLauncher(LaunchOptions options, const std::string& program, int alive);

// The pause before restart number `restart`, from 1.
LaunchOptions::Seconds BackOff(const LaunchOptions& options, int restart);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_LAUNCHER_H_
