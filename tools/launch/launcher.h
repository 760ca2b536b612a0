// RunLauncher starts the ranks, and restarts them after a failure as often as
// the options allow. A program that resumes from its last checkpoint continues
// there.
//
//   return RunLauncher(options, program, alive);
//
// For programs with one thread.
#ifndef TRAINYARD_TOOLS_LAUNCH_LAUNCHER_H_
#define TRAINYARD_TOOLS_LAUNCH_LAUNCHER_H_

#include <chrono>
#include <string>

#include "tools/launch/launch_options.h"

namespace trainyard {

// Returns the exit code: 0, that of the first failure, or that of a cancelled
// rank.
// REQUIRES: SIGCHLD and kPassedOnSignals are blocked, as in RunGuarded.
int RunLauncher(LaunchOptions options, const std::string& program, int alive);

// The pause before restart number `restart`, from 1.
LaunchOptions::Seconds BackOff(const LaunchOptions& options, int restart);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_LAUNCHER_H_
