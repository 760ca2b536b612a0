#include "tools/launch/launch_program.h"

#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tools/launch/announce.h"
#include "tools/launch/guard.h"
#include "tools/launch/launch_options.h"
#include "tools/launch/launcher.h"
#include "tools/launch/node_launcher.h"
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

void WriteConfig(const LaunchOptions& options) {
  std::ofstream file(options.write_config);
  file << LaunchConfig(options) << std::flush;
  if (!file) {
    throw std::runtime_error("cannot write " + options.write_config + ": " +
                             std::strerror(errno));
  }
}

int Run(const std::vector<std::string>& arguments) {
  const ProgramFolders folders = ProgramFoldersOfThisProcess();
  // Bazel's `run` changes the folder; paths are relative to the user's.
  const char* user_folder = std::getenv("BUILD_WORKING_DIRECTORY");
  if (user_folder != nullptr && chdir(user_folder) != 0) {
    Announce("cannot go to " + std::string(user_folder));
    return EXIT_FAILURE;
  }
  const LaunchOptions options = ParseLaunchOptions(arguments);
  if (options.help) {
    std::fputs(LaunchUsage().c_str(), stdout);
    return EXIT_SUCCESS;
  }
  if (!options.write_config.empty()) {
    WriteConfig(options);
    return EXIT_SUCCESS;
  }
  const std::string program = FindProgram(options.command.front(), folders);
  const std::optional<pid_t> coordinator = StartCoordinator(options);
  return RunGuarded(
      [&](int alive) {
        return AnnouncingErrors(
            [&] { return RunLauncher(options, program, alive); });
      },
      coordinator);
}

}  // namespace

int RunLaunchProgram(const std::vector<std::string>& arguments) {
  return AnnouncingErrors([&] { return Run(arguments); });
}

}  // namespace trainyard
