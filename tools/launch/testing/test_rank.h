// TestRank is what a test case of distributed_test knows of its run: its rank,
// how many there are, and the kind of device to use.
//
//   TEST(GatherTest, KeepsTheOrderOfRanks) {
//     const at::Tensor mine = at::full({1}, TestRank(), TestDevice());
//     …
//   }
//
// Thread-compatible.
#ifndef TRAINYARD_TOOLS_LAUNCH_TESTING_TEST_RANK_H_
#define TRAINYARD_TOOLS_LAUNCH_TESTING_TEST_RANK_H_

#include <string>

namespace trainyard {

int TestRank();
int TestWorldSize();
// Of this host.
int TestLocalWorldSize();
// "cpu", or "cuda:N" with this rank's own device.
std::string TestDevice();
// "cpu" or "cuda": what the main was asked for, before any test case.
void SetTestDevice(const std::string& kind);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_TESTING_TEST_RANK_H_
