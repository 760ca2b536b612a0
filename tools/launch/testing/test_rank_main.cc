#include "tools/launch/testing/test_rank_main.h"

#include <gtest/gtest.h>
#include <torch/cuda.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tools/launch/testing/test_rank.h"

namespace trainyard {
namespace {

bool EnoughDevices() {
  if (TestDevice() == "cpu") return true;
  const auto devices = static_cast<int>(torch::cuda::device_count());
  if (devices >= TestLocalWorldSize()) return true;
  std::fprintf(stderr, "%d ranks need as many CUDA devices, and there are %d\n",
               TestLocalWorldSize(), devices);
  return false;
}

// Several writers of one file would leave a torn one.
void LeaveFilesToRank0() {
  if (TestRank() == 0) return;
  GTEST_FLAG_SET(output, "");
  unsetenv("TEST_PREMATURE_EXIT_FILE");
}

}  // namespace

int TestRankMain(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const std::string flag = "--device=";
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.rfind(flag, 0) != 0) continue;
    SetTestDevice(argument.substr(flag.size()));
  }
  LeaveFilesToRank0();
  if (!EnoughDevices()) return 1;
  const int failed = RUN_ALL_TESTS();
  if (::testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
    std::fprintf(stderr, "no test case was linked or selected\n");
    return 1;
  }
  return failed;
}

}  // namespace trainyard

int main(int argc, char** argv) { return trainyard::TestRankMain(argc, argv); }
