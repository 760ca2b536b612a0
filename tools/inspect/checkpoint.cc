// Looks at checkpoints; see --help.

#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "tools/inspect/checkpoint_tool.h"

int main(int argc, char** argv) {
  // Bazel's `run` starts programs elsewhere: files named on the command line
  // are where the user is.
  const char* user_folder = std::getenv("BUILD_WORKING_DIRECTORY");
  if (user_folder != nullptr && chdir(user_folder) != 0) {
    std::cerr << "checkpoint: cannot go to '" << user_folder << "'\n";
    return 2;
  }
  return trainyard::RunCheckpointTool(
      std::vector<std::string>(argv + 1, argv + argc), std::cout, std::cerr);
}
