// RunMemoryTool is the program `memory` without its main: it prints what each
// rank needs to train a model, for each backend. See its --help.
//
//   const int code = RunMemoryTool({"1000000000", "8"}, out, err);
//
// Thread-safe for different streams.
#ifndef TRAINYARD_TOOLS_INSPECT_MEMORY_TOOL_H_
#define TRAINYARD_TOOLS_INSPECT_MEMORY_TOOL_H_

#include <ostream>
#include <string>
#include <vector>

namespace trainyard {

// Returns the exit code: 0, or 2 after one line on `err` if the arguments are
// invalid.
int RunMemoryTool(const std::vector<std::string>& arguments, std::ostream& out,
                  std::ostream& err);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_INSPECT_MEMORY_TOOL_H_
