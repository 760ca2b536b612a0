// What `checkpoint`, the program, does: lists, shows, verifies and compares
// checkpoints, and moves weights in and out.
//
//   return RunCheckpointTool({"verify", "run"}, std::cout, std::cerr);
//
// Thread-safe, but for the streams.
#ifndef TRAINYARD_TOOLS_INSPECT_CHECKPOINT_TOOL_H_
#define TRAINYARD_TOOLS_INSPECT_CHECKPOINT_TOOL_H_

#include <ostream>
#include <string>
#include <vector>

namespace trainyard {

// Returns the exit code: 0; 1 if something is damaged or different; 2 after one
// line on `err` that says what is wrong with the question.
int RunCheckpointTool(const std::vector<std::string>& arguments,
                      std::ostream& out, std::ostream& err);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_INSPECT_CHECKPOINT_TOOL_H_
