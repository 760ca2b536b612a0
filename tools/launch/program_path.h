// FindProgram finds the file of a program that the user names:
//
//   ./a.out, /bin/true       a path, relative to the user's folder
//   //tools/examples:gan     a label of the workspace, already built
//   fashion_mnist_ranks      one of the workspace's built examples,
//                            or a program on PATH
//
// Thread-compatible.
#ifndef TRAINYARD_TOOLS_LAUNCH_PROGRAM_PATH_H_
#define TRAINYARD_TOOLS_LAUNCH_PROGRAM_PATH_H_

#include <string>
#include <vector>

namespace trainyard {

// Where to look. Paths relative to the current folder are found as they are.
struct ProgramFolders {
  // Folders with Bazel's outputs, laid out as the workspace is; first one wins.
  std::vector<std::string> outputs;
  // The variable PATH.
  std::string path;
};

// This launcher's own: its runfiles, the workspace's bazel-bin, PATH.
ProgramFolders ProgramFoldersOfThisProcess();

// Throws std::invalid_argument with the folders searched and what to build.
std::string FindProgram(const std::string& name, const ProgramFolders& folders);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_PROGRAM_PATH_H_
