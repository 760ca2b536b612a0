// MakeBackend under a launcher of several ranks.
#include <gtest/gtest.h>

#include "backends/make_backend.h"
#include "backends/processes/rendezvous.h"
#include "tools/launch/testing/test_rank.h"

namespace trainyard {
namespace {

TEST(MakeBackendDdpTest, MakesDdpForTheRanksOfALauncher) {
  const Rendezvous rendezvous = RendezvousFromEnvironment();
  EXPECT_EQ(rendezvous.rank, TestRank());
  const auto backend =
      MakeBackend("ddp-amp", {.device = at::Device(TestDevice())});
  EXPECT_EQ(backend->name(), "ddp-amp");
  EXPECT_EQ(backend->num_processes(), 2);
  EXPECT_EQ(backend->rank(), TestRank());
  EXPECT_EQ(backend->device(), at::Device(TestDevice()));
  EXPECT_TRUE(backend->collectives().Any(backend->rank() == 1));
}

}  // namespace
}  // namespace trainyard
