// RunCheckpointTool is the program `checkpoint` without its main: it lists,
// shows, verifies and compares checkpoints, and exports and imports weights.
// See its --help.
//
//   const int code = RunCheckpointTool({"verify", run}, out, err);
//
// Thread-safe for different streams.
#ifndef TRAINYARD_TOOLS_INSPECT_CHECKPOINT_TOOL_H_
#define TRAINYARD_TOOLS_INSPECT_CHECKPOINT_TOOL_H_

#include <ostream>
#include <string>
#include <vector>

namespace trainyard {

// Returns the exit code: 0; 1 if a checkpoint is damaged or different, or
// cannot be read; 2 after one line on `err` if the arguments are invalid.
// `err` also names damaged checkpoints of a run that were skipped.
int RunCheckpointTool(const std::vector<std::string>& arguments,
                      std::ostream& out, std::ostream& err);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_INSPECT_CHECKPOINT_TOOL_H_
