// RunLaunchProgram is the main function of the launcher: it parses the
// arguments, finds the program and runs it as ranks.
//
//   return trainyard::RunLaunchProgram(
//       std::vector<std::string>(argv + 1, argv + argc));
//
// For programs with one thread.
#ifndef TRAINYARD_TOOLS_LAUNCH_LAUNCH_PROGRAM_H_
#define TRAINYARD_TOOLS_LAUNCH_LAUNCH_PROGRAM_H_

#include <string>
#include <vector>

namespace trainyard {

// The exit code; one line on standard error for an error of the launcher's own.
int RunLaunchProgram(const std::vector<std::string>& arguments);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_LAUNCH_PROGRAM_H_
