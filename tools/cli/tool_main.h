// ToolMain is the main function of a command-line tool. It changes to the
// folder in which the user called `tools/bazel run`, because Bazel starts
// programs in another one, and passes the arguments on.
//
//   int main(int argc, char** argv) {
//     return trainyard::ToolMain(argc, argv, [](const auto& arguments) {
//       return trainyard::RunCheckpointTool(arguments, std::cout, std::cerr);
//     });
//   }
//
// Not thread-safe: it changes the process's working folder.
#ifndef TRAINYARD_TOOLS_CLI_TOOL_MAIN_H_
#define TRAINYARD_TOOLS_CLI_TOOL_MAIN_H_

#include <functional>
#include <string>
#include <vector>

namespace trainyard {

// Returns the result of `run`, the exit code, or 1 after one line on standard
// error if it cannot change the folder. The arguments are those after the
// program's name.
int ToolMain(int argc, char** argv,
             const std::function<int(const std::vector<std::string>&)>& run);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_CLI_TOOL_MAIN_H_
