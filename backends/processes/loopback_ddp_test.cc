// The ranks of one machine listen on loopback only.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "backends/processes/group_collectives.h"
#include "backends/processes/process_group.h"
#include "backends/testing/rank_group.h"
#include "tools/launch/testing/test_rank.h"

namespace trainyard {
namespace {

using ::testing::IsEmpty;

// The addresses that this process listens on, as the kernel writes them.
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

TEST(LoopbackTest, RanksOfOneMachineListenOnLoopbackOnly) {
  const auto collectives = MakeGroupCollectives(*RankGroup());
  collectives->Barrier();
  std::set<std::string> addresses = ListeningAddresses();
  // Ranks that share memory need no connections.
  EXPECT_EQ(addresses.empty(),
            RankGroup()->shared_ranks() != nullptr && TestRank() != 0);
  addresses.erase("0100007F");  // 127.0.0.1
  EXPECT_THAT(addresses, IsEmpty());
  collectives->Barrier();
}

}  // namespace
}  // namespace trainyard
