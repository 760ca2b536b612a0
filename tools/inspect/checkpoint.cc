// Lists, shows, verifies and compares checkpoints; see --help.
#include <iostream>

#include "tools/cli/tool_main.h"
#include "tools/inspect/checkpoint_tool.h"

int main(int argc, char** argv) {
  return trainyard::ToolMain(argc, argv, [](const auto& arguments) {
    return trainyard::RunCheckpointTool(arguments, std::cout, std::cerr);
  });
}
