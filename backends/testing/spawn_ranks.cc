#include "backends/testing/spawn_ranks.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

#include "backends/processes/listening_socket.h"

namespace trainyard {
namespace {

std::string CurrentTest() {
  const ::testing::TestInfo* const info =
      ::testing::UnitTest::GetInstance()->current_test_info();
  return std::string(info->test_suite_name()) + "." + info->name();
}

// What a launcher sets.
std::vector<std::string> LauncherVariables(int rank, int count, int port,
                                           int store_fd) {
  const std::string r = std::to_string(rank);
  const std::string n = std::to_string(count);
  std::vector<std::string> all = {"RANK=" + r,
                                  "LOCAL_RANK=" + r,
                                  "WORLD_SIZE=" + n,
                                  "LOCAL_WORLD_SIZE=" + n,
                                  "MASTER_ADDR=127.0.0.1",
                                  "MASTER_PORT=" + std::to_string(port)};
  if (rank == 0) {
    all.push_back("TRAINYARD_STORE_FD=" + std::to_string(store_fd));
  }
  return all;
}

std::vector<std::string> WithOwnVariables(std::vector<std::string> all) {
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view variable = *each;
    // Bazel's own would make each rank report to the same files.
    if (!variable.starts_with("TEST_SHARD") &&
        !variable.starts_with("TEST_PREMATURE_EXIT_FILE=") &&
        !variable.starts_with("XML_OUTPUT_FILE=") &&
        !variable.starts_with("GTEST_OUTPUT=")) {
      all.emplace_back(variable);
    }
  }
  return all;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::string LogFile(int rank) {
  const char* const folder = std::getenv("TEST_TMPDIR");
  return std::string(folder == nullptr ? "/tmp" : folder) + "/" +
         std::to_string(getpid()) + "-rank" + std::to_string(rank) + ".log";
}

pid_t Start(std::vector<std::string> variables, const std::string& filter,
            const std::string& log) {
  std::vector<std::string> arguments = {
      "/proc/self/exe",
      "--gtest_filter=" + (filter.empty() ? CurrentTest() : filter)};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t pid = -1;
  const int error =
      posix_spawn(&pid, arguments[0].c_str(), &actions, nullptr,
                  Pointers(arguments).data(), Pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  EXPECT_EQ(error, 0) << std::strerror(error);
  return error == 0 ? pid : -1;
}

RankEnding Wait(pid_t pid, const std::string& log) {
  int status = 0;
  waitpid(pid, &status, 0);
  std::ostringstream output;
  output << std::ifstream(log).rdbuf();
  unlink(log.c_str());
  return {WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
          output.str()};
}

bool HasOtherThreads() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       {}) > 1;
}

// Ends a rank that is a copy with its test, as the whole program would.
class EndWithTest final : public ::testing::EmptyTestEventListener {
  void OnTestEnd(const ::testing::TestInfo& info) override {
    std::exit(info.result()->Failed() ? 1 : 0);
  }
};

// 0 in the copy.
pid_t Copy(const std::vector<std::string>& variables, const std::string& log) {
  std::fflush(nullptr);  // or both would write it
  const pid_t pid = fork();
  if (pid != 0) {
    EXPECT_GT(pid, 0) << std::strerror(errno);
    return pid;
  }
  const int fd = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (dup2(fd, 1) < 0 || dup2(fd, 2) < 0) _exit(1);
  for (const std::string& variable : variables) {
    const size_t equals = variable.find('=');
    setenv(variable.substr(0, equals).c_str(), &variable[equals + 1], 1);
  }
  ::testing::UnitTest::GetInstance()->listeners().Append(new EndWithTest);
  return 0;
}

// Empty in a rank.
std::vector<RankEnding> CopyRanks(int count) {
  const ListeningSocket socket = ListenOn("127.0.0.1", 0);
  std::vector<std::string> logs;  // named before: a copy has another number
  for (int rank = 0; rank < count; ++rank) logs.push_back(LogFile(rank));
  std::vector<pid_t> pids;
  for (int rank = 0; rank < count; ++rank) {
    pids.push_back(Copy(LauncherVariables(rank, count, socket.port, socket.fd),
                        logs[rank]));
    if (pids.back() == 0) {
      if (rank != 0) close(socket.fd);
      return {};
    }
  }
  close(socket.fd);
  std::vector<RankEnding> endings;
  for (int rank = 0; rank < count; ++rank) {
    endings.push_back(pids[rank] < 0 ? RankEnding{.code = 1}
                                     : Wait(pids[rank], logs[rank]));
  }
  return endings;
}

}  // namespace

bool IsRank() { return std::getenv("RANK") != nullptr; }

std::vector<RankEnding> RunRanks(int count, const std::string& filter,
                                 const std::vector<int>& absent) {
  const ListeningSocket socket = ListenOn("127.0.0.1", 0);
  fcntl(socket.fd, F_SETFD, 0);  // rank 0 inherits it
  std::vector<pid_t> pids;
  for (int rank = 0; rank < count; ++rank) {
    const bool starts =
        std::find(absent.begin(), absent.end(), rank) == absent.end();
    pids.push_back(starts ? Start(WithOwnVariables(LauncherVariables(
                                      rank, count, socket.port, socket.fd)),
                                  filter, LogFile(rank))
                          : -1);
  }
  close(socket.fd);
  std::vector<RankEnding> endings;
  for (int rank = 0; rank < count; ++rank) {
    endings.push_back(pids[rank] < 0 ? RankEnding()
                                     : Wait(pids[rank], LogFile(rank)));
  }
  return endings;
}

bool SpawnRanks(int count, const std::string& filter) {
  if (IsRank()) return false;
  const std::vector<RankEnding> endings = filter.empty() && !HasOtherThreads()
                                              ? CopyRanks(count)
                                              : RunRanks(count, filter);
  if (IsRank()) return false;
  for (int rank = 0; rank < count; ++rank) {
    EXPECT_EQ(endings[rank].code, 0)
        << "rank " << rank << " of " << count << ":\n"
        << endings[rank].output;
  }
  return true;
}

}  // namespace trainyard
