#include "tools/launch/launch_program.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "tools/launch/guard.h"
#include "tools/launch/launch_options.h"
#include "tools/launch/launcher.h"
#include "tools/launch/program_path.h"
#include "tools/launch/report.h"

namespace trainyard {
namespace {

int ReportingErrors(const std::function<int()>& work) {
  try {
    return work();
  } catch (const std::exception& error) {
    Report(error.what());
    return EXIT_FAILURE;
  }
}

int Run(const std::vector<std::string>& arguments) {
  const LaunchOptions options = ParseLaunchOptions(arguments);
  if (options.help) {
    std::fputs(LaunchUsage().c_str(), stdout);
    return EXIT_SUCCESS;
  }
  const ProgramFolders folders = ProgramFoldersOfThisProcess();
  // Bazel's `run` starts programs elsewhere: paths are where the user is.
  const char* user_folder = std::getenv("BUILD_WORKING_DIRECTORY");
  if (user_folder != nullptr && chdir(user_folder) != 0) {
    Report("cannot go to " + std::string(user_folder));
    return EXIT_FAILURE;
  }
  const std::string program = FindProgram(options.command.front(), folders);
  return RunGuarded([&](int alive) {
    return ReportingErrors(
        [&] { return RunLauncher(options, program, alive); });
  });
}

}  // namespace

int RunLaunchProgram(const std::vector<std::string>& arguments) {
  return ReportingErrors([&] { return Run(arguments); });
}

}  // namespace trainyard
