#include "tools/launch/program_path.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace trainyard {
namespace {

constexpr char kExamples[] = "tools/examples";

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool IsProgram(const std::string& path) {
  struct stat info = {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

// "//a/b:c" is the file "a/b/c" below the outputs.
std::string FileOfLabel(const std::string& label) {
  const size_t colon = label.find(':');
  return label.substr(2, colon - 2) + "/" + label.substr(colon + 1);
}

std::string FindInOutputs(const std::string& file, const std::string& label,
                          const ProgramFolders& folders) {
  for (const std::string& folder : folders.outputs) {
    const std::string path = folder + "/" + file;
    if (IsProgram(path)) return path;
  }
  throw std::invalid_argument(label + " is not built; build it with " +
                              "'tools/bazel build " + label + "'");
}

}  // namespace

ProgramFolders ProgramFoldersOfThisProcess() {
  ProgramFolders folders{.path = Variable("PATH")};
  std::error_code none;
  const std::string self =
      std::filesystem::read_symlink("/proc/self/exe", none);
  if (!none) folders.outputs.push_back(self + ".runfiles/trainyard");
  const std::string workspace = Variable("BUILD_WORKSPACE_DIRECTORY");
  if (!workspace.empty()) folders.outputs.push_back(workspace + "/bazel-bin");
  // Started by hand from a workspace.
  if (workspace.empty()) folders.outputs.push_back("bazel-bin");
  return folders;
}

std::string FindProgram(const std::string& name,
                        const ProgramFolders& folders) {
  if (name.rfind("//", 0) == 0 && name.find(':') != std::string::npos) {
    return FindInOutputs(FileOfLabel(name), name, folders);
  }
  if (name.find('/') != std::string::npos) {
    if (IsProgram(name)) return name;
    throw std::invalid_argument("'" + name + "' is not a program" +
                                (access(name.c_str(), F_OK) == 0
                                     ? ": it cannot be run"
                                     : ": there is no such file"));
  }
  for (const std::string& folder : folders.outputs) {
    const std::string path = folder + "/" + kExamples + "/" + name;
    if (IsProgram(path)) return path;
  }
  std::istringstream path(folders.path);
  for (std::string folder; std::getline(path, folder, ':');) {
    if (!folder.empty() && IsProgram(folder + "/" + name)) {
      return folder + "/" + name;
    }
  }
  throw std::invalid_argument(
      "'" + name +
      "' is neither a built example nor a program on PATH; if it is an "
      "example, build it with 'tools/bazel build //" +
      kExamples + ":" + name + "', else give its path");
}

}  // namespace trainyard
