#include "tools/launch/launcher.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>

#include "backends/processes/listening_socket.h"
#include "tools/launch/announce.h"
#include "tools/launch/guard.h"
#include "tools/launch/host_ranks.h"
#include "tools/launch/node_launcher.h"
#include "tools/launch/rank_environment.h"

namespace trainyard {
namespace {

class SignalFd {
 public:
  SignalFd() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    for (const int signal : kPassedOnSignals) sigaddset(&signals, signal);
    fd_ = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd_ < 0) {
      throw std::system_error(errno, std::generic_category(), "signalfd");
    }
  }
  ~SignalFd() { close(fd_); }
  int fd() const { return fd_; }

 private:
  int fd_;
};

std::string NewFolder() {
  const char* base = std::getenv("TMPDIR");
  std::string path =
      std::string(base == nullptr ? "/tmp" : base) + "/trainyard-launch-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(),
                            "cannot make the log folder " + path);
  }
  return path;
}

// Returns false if a signal or the end of the guard cut the wait short.
bool Pause(LaunchOptions::Seconds time, int signal_fd, int alive) {
  const auto end = std::chrono::steady_clock::now() + time;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return true;
    pollfd fds[] = {{signal_fd, POLLIN, 0}, {alive, POLLIN, 0}};
    poll(fds, 2, static_cast<int>(left.count()));
    if (fds[1].revents != 0) return false;
    signalfd_siginfo info = {};
    while (read(signal_fd, &info, sizeof(info)) == sizeof(info)) {
      if (!AsksForEnd(static_cast<int>(info.ssi_signo))) continue;
      Announce(SignalName(static_cast<int>(info.ssi_signo)) +
               " between restarts: not starting again");
      return false;
    }
  }
}

}  // namespace

LaunchOptions::Seconds BackOff(const LaunchOptions& options, int restart) {
  return std::min(LaunchOptions::kLongestPause,
                  options.backoff * std::exp2(std::min(restart - 1, 30)));
}

namespace {

int RunOnOneHost(const LaunchOptions& options, const std::string& program,
                 int signal_fd, int alive) {
  int first_code = 0;
  for (int restarts = 0;; ++restarts) {
    RankPlan plan = {.world_size = options.nproc,
                     .address = options.master_addr,
                     .restarts = restarts,
                     .generation = restarts};
    std::optional<HostRanks> ranks;
    {
      const ListeningSocket store(options.master_addr, options.master_port);
      plan.port = store.port();
      ranks.emplace(options, program, plan,
                    HostEvents{.signal_fd = signal_fd, .alive_fd = alive},
                    &store);
      ranks->Start();
      // From here on only rank 0 has the socket: if it dies, nobody listens.
    }
    const GroupEnd end = ranks->Run();
    if (end.how != GroupEnd::How::kFailed) return end.exit_code;
    if (first_code == 0) first_code = end.exit_code;
    if (restarts == options.max_restarts) return first_code;
    const LaunchOptions::Seconds pause = BackOff(options, restarts + 1);
    Announce("restart " + std::to_string(restarts + 1) + " of " +
             std::to_string(options.max_restarts) + " in " +
             DescribeSeconds(pause.count()));
    if (!Pause(pause, signal_fd, alive)) return first_code;
  }
}

// A folder of the launcher's own stays only if somebody may want to read it.
class LogFolder {
 public:
  explicit LogFolder(std::string& path) : made_(path.empty()), path_(path) {
    if (made_) {
      path_ = NewFolder();
    } else {
      std::filesystem::create_directories(path_);
    }
  }
  ~LogFolder() {
    std::error_code ignored;
    if (made_ && unneeded_) std::filesystem::remove_all(path_, ignored);
    if (made_) std::filesystem::remove(path_, ignored);  // if it is empty
  }
  LogFolder(const LogFolder&) = delete;
  LogFolder& operator=(const LogFolder&) = delete;

  void SetUnneeded() { unneeded_ = true; }

 private:
  const bool made_;
  std::string& path_;
  bool unneeded_ = false;
};

}  // namespace

int RunLauncher(LaunchOptions options, const std::string& program, int alive) {
  // A launcher that is itself a rank of another must not pass its socket on.
  unsetenv("TRAINYARD_STORE_FD");
  signal(SIGPIPE, SIG_IGN);
  const SignalFd signals;
  LogFolder logs(options.log_dir);
  Announce(std::to_string(options.nproc) +
           (options.nproc == 1 ? " rank" : " ranks") + " of " + program +
           ", logs in " + options.log_dir);
  const int code = options.several_nodes()
                       ? RunNode(options, program, signals.fd(), alive)
                       : RunOnOneHost(options, program, signals.fd(), alive);
  if (code == 0) logs.SetUnneeded();
  return code;
}

}  // namespace trainyard
