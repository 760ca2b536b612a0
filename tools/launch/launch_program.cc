#include "tools/launch/launch_program.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "tools/launch/announce.h"
#include "tools/launch/guard.h"
#include "tools/launch/launch_options.h"
#include "tools/launch/launcher.h"
#include "tools/launch/program_path.h"

namespace trainyard {
namespace {

int AnnouncingErrors(const std::function<int()>& work) {
  try {
    return work();
  } catch (const std::exception& error) {
    Announce(error.what());
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
    Announce("cannot go to " + std::string(user_folder));
    return EXIT_FAILURE;
  }
  const std::string program = FindProgram(options.command.front(), folders);
  return RunGuarded([&](int alive) {
    return AnnouncingErrors(
        [&] { return RunLauncher(options, program, alive); });
  });
}

}  // namespace

int RunLaunchProgram(const std::vector<std::string>& arguments) {
  return AnnouncingErrors([&] { return Run(arguments); });
}

}  // namespace trainyard
