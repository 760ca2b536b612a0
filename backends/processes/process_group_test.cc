// A group whose ranks do not all connect. rank_loss_test.py has ranks that are
// lost later.
#include "backends/processes/process_group.h"

#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "backends/processes/listening_socket.h"
#include "backends/processes/store.h"
#include "tools/testing/error_of.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

std::string ConnectError(const Rendezvous& rendezvous) {
  return ErrorOf<c10::DistError>([&] {
    const ProcessGroup group(
        {.rendezvous = rendezvous, .timeout = std::chrono::milliseconds(100)});
  });
}

// Rank 2 gives up, but has connected by then: rank 0 misses rank 1 only.
TEST(ProcessGroupTest, NamesTheRanksThatDoNotConnect) {
  ListeningSocket socket("127.0.0.1", 0);
  Rendezvous rendezvous = {.rank = 2,
                           .world_size = 3,
                           .local_rank = 2,
                           .local_world_size = 3,
                           .port = socket.port(),
                           .store_is_elsewhere = true};
  const auto store = ServeStore(socket);
  EXPECT_THAT(ConnectError(rendezvous),
              HasSubstr("ranks 0 and 1 of 3 did not connect within 100 ms"));
  rendezvous.rank = 0;
  rendezvous.local_rank = 0;
  EXPECT_THAT(ConnectError(rendezvous),
              HasSubstr("rank 1 of 3 did not connect within 100 ms"));
}

TEST(ProcessGroupTest, NamesATakenPort) {
  const ListeningSocket taken("127.0.0.1", 0);
  EXPECT_THAT(
      ErrorOf<std::runtime_error>([&] {
        const ProcessGroup group({.rendezvous = {.port = taken.port()}});
      }),
      HasSubstr(std::to_string(taken.port())));
}

TEST(ProcessGroupTest, RejectsInvalidOptions) {
  EXPECT_THROW(ProcessGroup({.timeout = std::chrono::milliseconds(0)}),
               c10::ValueError);
  EXPECT_THROW(ProcessGroup({.device = at::kMeta}), c10::ValueError);
}

}  // namespace
}  // namespace trainyard
