#include "tools/cli/tool_main.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>

namespace trainyard {

int ToolMain(int argc, char** argv,
             const std::function<int(const std::vector<std::string>&)>& run) {
  const char* user_folder = std::getenv("BUILD_WORKING_DIRECTORY");
  if (user_folder != nullptr && chdir(user_folder) != 0) {
    std::cerr << argv[0] << ": cannot change to the folder " << user_folder
              << ": " << std::strerror(errno) << "\n";
    return 1;
  }
  return run(std::vector<std::string>(argv + 1, argv + argc));
}

}  // namespace trainyard
