// The place of a test case of distributed_test: its rank, the number of ranks
// and its device.
//
//   TEST(RankTest, EachRankHasItsOwnPlace) {
//     EXPECT_GE(TestRank(), 0);
//     EXPECT_LT(TestRank(), TestWorldSize());
//     const std::string device = TestDevice();
//     …
//   }
//
// Tests of one process with several devices use TestDevice() as well.
// Thread-compatible.
#ifndef TRAINYARD_TOOLS_LAUNCH_TESTING_TEST_RANK_H_
#define TRAINYARD_TOOLS_LAUNCH_TESTING_TEST_RANK_H_

#include <string>

namespace trainyard {

int TestRank();
int TestWorldSize();
// The number of ranks on this host.
int TestLocalWorldSize();
// "cpu", or "standin:N" or "cuda:N" with the local rank N; 0 in a test of one
// process. A backend takes this device by default.
std::string TestDevice();
// Sets "cpu", "standin" or "cuda". Called by the main function, before any test
// case.
void SetTestDevice(const std::string& kind);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_TESTING_TEST_RANK_H_
