// RankProcess is one started program: its process, its process group, and the
// pipes of its standard output and standard error.
//
//   const RankProcess rank({.program = "/bin/echo", .arguments = {"echo", "hi"}});
//   waitpid(rank.pid(), &status, 0);
//
// The program is run by execve, without a shell. It is killed when this process
// ends, and its standard input is empty. For programs with one thread.
#ifndef TRAINYARD_TOOLS_LAUNCH_RANK_PROCESS_H_
#define TRAINYARD_TOOLS_LAUNCH_RANK_PROCESS_H_

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

struct RankProcessOptions {
  // File to run.
  std::string program;
  // The arguments of the program; the first is its own name.
  std::vector<std::string> arguments;
  // Added to the environment of this process; replaces equal names.
  std::map<std::string, std::string> environment;
  // A descriptor that it inherits under the same number.
  std::optional<int> inherited_fd = std::nullopt;
};

class RankProcess {
 public:
  // Returns when the program runs. Throws std::system_error with the program's
  // name if it cannot be run.
  explicit RankProcess(const RankProcessOptions& options);
  // Closes the pipes; the process continues.
  ~RankProcess();

  RankProcess(const RankProcess&) = delete;
  RankProcess& operator=(const RankProcess&) = delete;

  pid_t pid() const { return pid_; }
  // The reading ends of the pipes, which do not block.
  int output_fd() const { return output_fd_; }
  int error_fd() const { return error_fd_; }

  // Sends a signal to the program only, and continues it if it is stopped.
  void Signal(int signal) const;
  // Sends SIGKILL to the program's process group.
  void KillGroup() const;

 private:
  pid_t pid_ = -1;
  int output_fd_ = -1;
  int error_fd_ = -1;
};

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_RANK_PROCESS_H_
