// RankProcess is one started program: its process, its process group, and the
// pipes that its standard output and standard error write to.
//
//   RankProcess rank({.program = "/bin/true", .arguments = {"true"}});
//   waitpid(rank.pid(), &status, 0);
//
// The program is run directly, never by a shell. It dies with the process that
// started it, and reads nothing. Thread-compatible: for programs with one
// thread.
#ifndef TRAINYARD_TOOLS_LAUNCH_RANK_PROCESS_H_
#define TRAINYARD_TOOLS_LAUNCH_RANK_PROCESS_H_

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace trainyard {

struct RankProcessOptions {
  // File to run.
  std::string program;
  // What the program sees as its arguments, its own name first.
  std::vector<std::string> arguments;
  // Added to the environment of this process, or replacing what is there.
  std::map<std::string, std::string> environment;
  // A descriptor it inherits under the same number; -1: none.
  int inherited_fd = -1;
};

class RankProcess {
 public:
  // Returns once the program runs. Throws std::system_error, naming the
  // program, if it cannot be run.
  explicit RankProcess(const RankProcessOptions& options);
  // Closes the pipes; the process goes on.
  ~RankProcess();

  RankProcess(const RankProcess&) = delete;
  RankProcess& operator=(const RankProcess&) = delete;

  pid_t pid() const { return pid_; }
  // Ends of the pipes to read from; they do not block.
  int output_fd() const { return output_fd_; }
  int error_fd() const { return error_fd_; }

  // To the program alone, woken if it is stopped.
  void Signal(int signal) const;
  // SIGKILL to the program and to what it started in its process group.
  void KillGroup() const;

 private:
  pid_t pid_ = -1;
  int output_fd_ = -1;
  int error_fd_ = -1;
};

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_RANK_PROCESS_H_
