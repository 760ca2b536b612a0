// RunHangTool is the program `hang` without its main: it says which ranks of a
// run waited for which others. See its --help.
//
//   const int code = RunHangTool({"run/records"}, out, err);
//
// Thread-safe for different streams.
#ifndef TRAINYARD_TOOLS_INSPECT_HANG_TOOL_H_
#define TRAINYARD_TOOLS_INSPECT_HANG_TOOL_H_

#include <ostream>
#include <string>
#include <vector>

namespace trainyard {

// Returns the exit code: 0; 1 after one line on `err` if there are no records,
// or they cannot be read or told apart; 2 if the arguments are invalid.
int RunHangTool(const std::vector<std::string>& arguments, std::ostream& out,
                std::ostream& err);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_INSPECT_HANG_TOOL_H_
