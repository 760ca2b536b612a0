#include "tools/inspect/testing/run_tool.h"

#include <sstream>

#include "tools/inspect/checkpoint_tool.h"

namespace trainyard {

ToolOutcome RunTool(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  const int code = RunCheckpointTool(arguments, out, err);
  return {code, out.str(), err.str()};
}

}  // namespace trainyard
