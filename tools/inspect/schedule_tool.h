// RunScheduleTool is the program `schedule` without its main: it shows the
// values of a schedule before you train with it. See its --help.
//
//   const int code = RunScheduleTool({"--schedule=cosine", "--epochs=5"},
//                                    /*terminal=*/true, out, err);
//
// Thread-safe for different streams.
#ifndef TRAINYARD_TOOLS_INSPECT_SCHEDULE_TOOL_H_
#define TRAINYARD_TOOLS_INSPECT_SCHEDULE_TOOL_H_

#include <ostream>
#include <string>
#include <vector>

namespace trainyard {

// Returns the exit code: 0, or 1 after one line on `err` that names the error.
// `terminal`: `out` is a terminal, so draw a plot, too.
int RunScheduleTool(const std::vector<std::string>& arguments, bool terminal,
                    std::ostream& out, std::ostream& err);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_INSPECT_SCHEDULE_TOOL_H_
