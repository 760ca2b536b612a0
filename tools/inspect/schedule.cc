// Shows the values of a schedule before you train with it; see --help.
#include <unistd.h>

#include <iostream>

#include "tools/cli/tool_main.h"
#include "tools/inspect/schedule_tool.h"

int main(int argc, char** argv) {
  return trainyard::ToolMain(argc, argv, [](const auto& arguments) {
    return trainyard::RunScheduleTool(arguments, isatty(STDOUT_FILENO) == 1,
                                      std::cout, std::cerr);
  });
}
