// Shows the metrics of runs in a browser; see --help.
#include <iostream>

#include "tools/cli/tool_main.h"
#include "tools/report/report_tool.h"

int main(int argc, char** argv) {
  return trainyard::ToolMain(argc, argv, [](const auto& arguments) {
    return trainyard::RunReportTool(arguments, std::cout, std::cerr);
  });
}
