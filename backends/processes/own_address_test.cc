#include "backends/processes/own_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "backends/processes/listening_socket.h"
#include "tools/testing/error_of.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(OwnAddressTest, LoopbackOnOneMachine) {
  const Rendezvous rendezvous = {.world_size = 2, .local_world_size = 2};
  const OwnAddress own = ChooseOwnAddress(rendezvous);
  std::printf("%s of %s\n", own.address.c_str(), own.interface.c_str());
  EXPECT_EQ(own.address, "127.0.0.1");
  EXPECT_EQ(own.interface, "lo");
}

TEST(OwnAddressTest, TakesTheNamedInterface) {
  const OwnAddress own = ChooseOwnAddress(
      {.world_size = 2, .address = "192.0.2.7", .interface = "lo"});
  EXPECT_EQ(own.address, "127.0.0.1");
  EXPECT_THAT(ErrorOf([] { ChooseOwnAddress({.interface = "ib7"}); }),
              AllOf(HasSubstr("no interface \"ib7\""), HasSubstr("lo")));
}

// A host whose own name is 127.0.1.1 must not tell the others that address.
TEST(OwnAddressTest, OverSeveralMachinesNotLoopbackIfThereIsAnother) {
  bool another = false;
  for (const OwnAddress& own : OwnAddresses()) {
    another = another || !IsLoopback(own.address);
  }
  const OwnAddress own =
      ChooseOwnAddress({.world_size = 2, .address = "127.0.1.1"});
  EXPECT_EQ(IsLoopback(own.address), !another);
}

TEST(OwnAddressTest, DescribesThePlace) {
  EXPECT_EQ(DescribePlace({.rank = 3,
                           .world_size = 4,
                           .local_rank = 1,
                           .local_world_size = 2,
                           .address = "n1",
                           .port = 21034,
                           .launcher = "Slurm's srun"},
                          {"eth0", "10.0.0.2"}),
            "rank 3 of 4 (Slurm's srun): local rank 1 of 2, store at n1:21034, "
            "messages over eth0 (10.0.0.2)");
}

}  // namespace
}  // namespace trainyard
