#include "tools/launch/rank_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <vector>

namespace trainyard {
namespace {

[[noreturn]] void Throw(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), what);
}

struct Pipe {
  Pipe() {
    if (pipe2(ends, O_CLOEXEC) != 0) Throw(errno, "cannot make a pipe");
  }
  ~Pipe() {
    CloseEnd(0);
    CloseEnd(1);
  }
  void CloseEnd(int end) {
    if (ends[end] >= 0) close(ends[end]);
    ends[end] = -1;
  }
  // The reading end, not blocking, which is the caller's from now on.
  int TakeReader() {
    const int fd = ends[0];
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    ends[0] = -1;
    return fd;
  }
  int ends[2] = {-1, -1};
};

std::string NameOf(const std::string& variable) {
  return variable.substr(0, variable.find('='));
}

std::vector<std::string> Environment(const RankProcessOptions& options) {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!options.environment.count(NameOf(*variable))) {
      all.push_back(*variable);
    }
  }
  for (const auto& [name, value] : options.environment) {
    all.push_back(name + "=" + value);
  }
  return all;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

struct ChildPlan {
  const char* program;
  char* const* arguments;
  char* const* environment;
  std::optional<int> inherited_fd;
  int output, error, failure;
  pid_t parent;
};

void ResetSignals() {
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  for (const int signal :
       {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGQUIT, SIGPIPE, SIGCHLD}) {
    sigaction(signal, &standard, nullptr);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Runs in the child: only calls that are safe after a fork.
[[noreturn]] void RunChild(const ChildPlan& plan) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have gone before the line above.
  if (getppid() != plan.parent) _exit(1);
  ResetSignals();
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 &&
      dup2(plan.output, STDOUT_FILENO) >= 0 &&
      dup2(plan.error, STDERR_FILENO) >= 0 &&
      (!plan.inherited_fd || fcntl(*plan.inherited_fd, F_SETFD, 0) == 0)) {
    execve(plan.program, plan.arguments, plan.environment);
  }
  const int error = errno;
  const ssize_t written = write(plan.failure, &error, sizeof(error));
  _exit(written == sizeof(error) ? 127 : 126);
}

}  // namespace

RankProcess::RankProcess(const RankProcessOptions& options) {
  Pipe output;
  Pipe error;
  Pipe failure;
  // Everything that allocates happens before the fork.
  std::vector<std::string> arguments = options.arguments;
  std::vector<std::string> environment = Environment(options);
  const std::vector<char*> argument_pointers = Pointers(arguments);
  const std::vector<char*> environment_pointers = Pointers(environment);
  const ChildPlan plan{.program = options.program.c_str(),
                       .arguments = argument_pointers.data(),
                       .environment = environment_pointers.data(),
                       .inherited_fd = options.inherited_fd,
                       .output = output.ends[1],
                       .error = error.ends[1],
                       .failure = failure.ends[1],
                       .parent = getpid()};
  pid_ = fork();
  if (pid_ < 0) Throw(errno, "cannot start a process");
  if (pid_ == 0) RunChild(plan);
  // In both processes: whichever comes first, the group is there afterwards.
  setpgid(pid_, pid_);

  failure.CloseEnd(1);
  int reason = 0;
  ssize_t read_bytes = 0;
  do {
    read_bytes = read(failure.ends[0], &reason, sizeof(reason));
  } while (read_bytes < 0 && errno == EINTR);
  if (read_bytes == sizeof(reason)) {
    Throw(reason, "cannot run " + options.program);
  }
  output_fd_ = output.TakeReader();
  error_fd_ = error.TakeReader();
}

RankProcess::~RankProcess() {
  close(output_fd_);
  close(error_fd_);
}

void RankProcess::Signal(int signal) const {
  kill(pid_, signal);
  kill(pid_, SIGCONT);
}

void RankProcess::KillGroup() const { kill(-pid_, SIGKILL); }

}  // namespace trainyard
