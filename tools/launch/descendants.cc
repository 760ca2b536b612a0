#include "tools/launch/descendants.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

namespace trainyard {
namespace {

// The parent of `pid`, or 0. The name before it, in brackets, may hold
// anything.
pid_t ParentOf(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string text;
  std::getline(file, text, '\0');
  const size_t name_end = text.rfind(") ");
  if (name_end == std::string::npos) return 0;  // it has just gone
  // After the name: one letter for the state, then the parent.
  return static_cast<pid_t>(
      std::strtol(text.c_str() + name_end + 4, nullptr, 10));
}

void Pause(std::chrono::milliseconds time) {
  const timespec wait = {.tv_sec = 0, .tv_nsec = time.count() * 1'000'000};
  nanosleep(&wait, nullptr);
}

}  // namespace

void AdoptOrphans() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

std::vector<pid_t> Children() {
  std::vector<pid_t> children;
  const pid_t self = getpid();
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (!std::all_of(name.begin(), name.end(),
                     [](char c) { return c >= '0' && c <= '9'; })) {
      continue;
    }
    if (ParentOf(name) == self) {
      children.push_back(static_cast<pid_t>(std::stol(name)));
    }
  }
  return children;
}

bool KillDescendants(std::chrono::duration<double> wait) {
  const auto end = std::chrono::steady_clock::now() + wait;
  for (;;) {
    // Each round ends one generation: the children of what it ends come to us.
    for (const pid_t child : Children()) kill(child, SIGKILL);
    pid_t reaped = 0;
    do {
      reaped = waitpid(-1, nullptr, WNOHANG);
    } while (reaped > 0);
    if (reaped < 0) return true;
    if (std::chrono::steady_clock::now() > end) return false;
    Pause(std::chrono::milliseconds(2));
  }
}

}  // namespace trainyard
