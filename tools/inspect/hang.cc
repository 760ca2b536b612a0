// Says which ranks of a run waited for which others; see --help.
#include <iostream>

#include "tools/cli/tool_main.h"
#include "tools/inspect/hang_tool.h"

int main(int argc, char** argv) {
  return trainyard::ToolMain(argc, argv, [](const auto& arguments) {
    return trainyard::RunHangTool(arguments, std::cout, std::cerr);
  });
}
