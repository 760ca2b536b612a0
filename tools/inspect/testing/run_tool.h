// RunTool runs the checkpoint tool in this process.
//
//   const ToolOutcome list = RunTool({"list", run});
//
// Thread-safe.
#ifndef TRAINYARD_TOOLS_INSPECT_TESTING_RUN_TOOL_H_
#define TRAINYARD_TOOLS_INSPECT_TESTING_RUN_TOOL_H_

#include <string>
#include <vector>

namespace trainyard {

struct ToolOutcome {
  int code;
  std::string out;
  std::string err;
};

ToolOutcome RunTool(const std::vector<std::string>& arguments);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_INSPECT_TESTING_RUN_TOOL_H_
