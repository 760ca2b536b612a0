#include "tools/launch/guard.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <functional>
#include <optional>
#include <system_error>
#include <vector>

#include "tools/launch/descendants.h"
#include "trainer/loop/cancellation.h"

namespace trainyard {
namespace {

constexpr std::chrono::seconds kKillWait{5};
// Longer than a coordinator waits for the last launcher to read its last line.
constexpr std::chrono::seconds kCompanionWait{6};

[[noreturn]] void Throw(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

sigset_t SentOnSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : kPassedOnSignals) sigaddset(&signals, signal);
  return signals;
}

// Until `worker` has ended; its wait status. Unsets `companion` if that has
// ended, too.
int WaitSendingSignalsOn(pid_t worker, const sigset_t& signals,
                         std::optional<pid_t>& companion) {
  for (;;) {
    int status = 0;
    if (waitpid(worker, &status, WNOHANG) == worker) return status;
    if (companion && waitpid(*companion, &status, WNOHANG) == *companion) {
      companion.reset();
      if (status != 0) kill(worker, SIGKILL);
    }
    const int signal = sigwaitinfo(&signals, nullptr);
    if (signal > 0 && signal != SIGCHLD) kill(worker, signal);
  }
}

// Until `companion` has ended, at most kCompanionWait.
// REQUIRES: SIGCHLD is blocked.
void WaitForCompanion(pid_t companion) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  constexpr timespec kSlice = {.tv_sec = 0, .tv_nsec = 100'000'000};
  const auto give_up = std::chrono::steady_clock::now() + kCompanionWait;
  while (waitpid(companion, nullptr, WNOHANG) == 0 &&
         std::chrono::steady_clock::now() < give_up) {
    sigtimedwait(&child, nullptr, &kSlice);
  }
}

}  // namespace

bool AsksForEnd(int signal) {
  const std::vector<int> saves = CancellationFromEnvironment().save_signals;
  return signal != SIGQUIT && signal != SIGCHLD &&
         std::count(saves.begin(), saves.end(), signal) == 0;
}

int RunGuarded(const std::function<int(int alive)>& work,
               std::optional<pid_t> companion) {
  AdoptOrphans();
  int alive[2];
  if (pipe2(alive, O_CLOEXEC) != 0) Throw("launch: pipe");
  // Blocked before the fork, so that none of them is lost.
  sigset_t signals = SentOnSignals();
  sigaddset(&signals, SIGCHLD);
  sigset_t before;
  sigprocmask(SIG_BLOCK, &signals, &before);

  std::fflush(nullptr);
  const pid_t worker = fork();
  if (worker < 0) Throw("launch: fork");
  if (worker == 0) {
    close(alive[1]);
    setsid();
    AdoptOrphans();
    const int code = work(alive[0]);
    std::fflush(nullptr);
    _exit(code);
  }
  close(alive[0]);
  const int status = WaitSendingSignalsOn(worker, signals, companion);
  // Whoever else it serves must still hear of the end.
  if (companion && WIFEXITED(status)) WaitForCompanion(*companion);
  KillDescendants(kKillWait);
  close(alive[1]);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace trainyard
