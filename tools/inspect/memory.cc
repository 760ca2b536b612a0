// Prints the memory that each rank needs; see --help.
#include <iostream>

#include "tools/cli/tool_main.h"
#include "tools/inspect/memory_tool.h"

int main(int argc, char** argv) {
  return trainyard::ToolMain(argc, argv, [](const auto& arguments) {
    return trainyard::RunMemoryTool(arguments, std::cout, std::cerr);
  });
}
