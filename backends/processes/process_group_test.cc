#include "backends/processes/process_group.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <string>

#include "backends/processes/group_collectives.h"
#include "backends/processes/listening_socket.h"
#include "backends/testing/spawn_ranks.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ProcessGroupOptions Options(std::chrono::milliseconds timeout) {
  return {.rendezvous = RendezvousFromEnvironment(), .timeout = timeout};
}

std::string NetworkError(const std::function<void()>& call) {
  try {
    call();
  } catch (const c10::DistError& e) {
    return e.what_without_backtrace();
  }
  return "none";
}

// Addresses, as the kernel writes them, that this process listens on.
std::set<std::string> ListeningAddresses() {
  std::set<std::string> inodes;
  for (const auto& fd : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const std::string link =
        std::filesystem::read_symlink(fd.path(), error).string();
    if (link.starts_with("socket:[")) {
      inodes.insert(link.substr(8, link.size() - 9));
    }
  }
  std::set<std::string> addresses;
  for (const char* const table :
       {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    std::ifstream file(table);
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
      std::istringstream words(line);
      std::string skip, local, state, inode;
      words >> skip >> local >> skip >> state;
      for (int i = 0; i < 5; ++i) words >> skip;
      words >> inode;
      constexpr char kListen[] = "0A";
      if (state == kListen && inodes.contains(inode)) {
        addresses.insert(local.substr(0, local.find(':')));
      }
    }
  }
  return addresses;
}

TEST(ProcessGroupTest, NobodyListensOutsideLoopback) {
  if (SpawnRanks(2)) return;
  ProcessGroup group(Options(std::chrono::seconds(60)));
  const auto collectives = MakeGroupCollectives(group);
  collectives->Barrier();
  std::set<std::string> addresses = ListeningAddresses();
  EXPECT_FALSE(addresses.empty());
  addresses.erase("0100007F");  // 127.0.0.1
  EXPECT_THAT(addresses, IsEmpty());
  collectives->Barrier();
}

TEST(ProcessGroupTest, ARankThatNeverComesIsNamed) {
  if (!IsRank()) {
    EXPECT_EQ(RunRanks(3, "", /*absent=*/{1})[0].code, 0);
    return;
  }
  EXPECT_THAT(NetworkError(
                  [] { ProcessGroup group(Options(std::chrono::seconds(2))); }),
              HasSubstr("rank 1 of 3 did not come within 2000 ms"));
}

// Runs rank 1 to its end by `end`, and what rank 0 then hears.
void ExpectNamed(std::chrono::milliseconds timeout,
                 const std::function<void(ProcessGroup&)>& end,
                 const std::string& message) {
  ProcessGroup group(Options(timeout));
  const auto collectives = MakeGroupCollectives(group);
  const at::Tensor pid =
      collectives->AllGather(at::tensor({int64_t{getpid()}}))[1];
  if (collectives->rank() == 1) end(group);
  at::Tensor tensor = at::ones({4});
  EXPECT_THAT(
      NetworkError([&] { collectives->AllReduce(tensor, ReduceOp::kSum); }),
      AllOf(HasSubstr("AllReduce failed on rank 0 of 2"), HasSubstr(message)));
  kill(static_cast<pid_t>(pid.item<int64_t>()), SIGKILL);
}

TEST(ProcessGroupTest, ARankThatDiesIsNamedAtOnce) {
  if (!IsRank()) {
    const std::vector<RankEnding> endings = RunRanks(2);
    EXPECT_EQ(endings[0].code, 0) << endings[0].output;
    EXPECT_EQ(endings[1].code, 128 + SIGKILL);
    return;
  }
  // Long before the timeout, which would exceed the test's.
  ExpectNamed(
      std::chrono::hours(1), [](ProcessGroup&) { raise(SIGKILL); },
      "rank 1 does not answer");
}

TEST(ProcessGroupTest, ARankThatHangsIsNamedAfterTheTimeout) {
  if (!IsRank()) {
    const std::vector<RankEnding> endings = RunRanks(2);
    EXPECT_EQ(endings[0].code, 0) << endings[0].output;
    EXPECT_EQ(endings[1].code, 128 + SIGKILL);
    return;
  }
  ExpectNamed(
      std::chrono::seconds(3), [](ProcessGroup&) { raise(SIGSTOP); },
      "rank 1 does not answer");
}

TEST(ProcessGroupTest, TheReasonThatARankLeavesIsTold) {
  if (!IsRank()) {
    const std::vector<RankEnding> endings = RunRanks(2);
    EXPECT_EQ(endings[0].code, 0) << endings[0].output;
    EXPECT_EQ(endings[1].code, 9);
    return;
  }
  ExpectNamed(
      std::chrono::seconds(60),
      [](ProcessGroup& group) {
        group.Abandon("the disk is full");
        _exit(9);
      },
      "rank 1 does not answer; rank 1: the disk is full");
}

TEST(ProcessGroupTest, ATakenPortIsNamed) {
  const ListeningSocket taken = ListenOn("127.0.0.1", 0);
  EXPECT_THROW(
      {
        try {
          ProcessGroup group({.rendezvous = {.port = taken.port}});
        } catch (const std::runtime_error& e) {
          EXPECT_THAT(e.what(), HasSubstr(std::to_string(taken.port)));
          throw;
        }
      },
      std::runtime_error);
  close(taken.fd);
}

TEST(ProcessGroupTest, RefusesBadOptions) {
  EXPECT_THROW(ProcessGroup({.timeout = std::chrono::milliseconds(0)}),
               c10::ValueError);
  EXPECT_THROW(ProcessGroup({.device = at::kMeta}), c10::ValueError);
}

}  // namespace
}  // namespace trainyard
