// What `schedule`, the program, does: shows the values of a schedule before
// anybody trains with it.
//
//   return RunScheduleTool({"--schedule=cosine", "--epochs=5"},
//                          /*terminal=*/true, std::cout, std::cerr);
//
// Thread-safe, but for the streams.
#ifndef TRAINYARD_TOOLS_INSPECT_SCHEDULE_TOOL_H_
#define TRAINYARD_TOOLS_INSPECT_SCHEDULE_TOOL_H_

#include <ostream>
#include <string>
#include <vector>

namespace trainyard {

// Returns the exit code: 0, or 1 after one line on `err` that says what is
// wrong. With `terminal` the curve is drawn on `out` too.
int RunScheduleTool(const std::vector<std::string>& arguments, bool terminal,
                    std::ostream& out, std::ostream& err);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_INSPECT_SCHEDULE_TOOL_H_
