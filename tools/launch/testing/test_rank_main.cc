#include "tools/launch/testing/test_rank_main.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "tools/launch/testing/test_device.h"
#include "tools/launch/testing/test_rank.h"

namespace trainyard {
namespace {

// Several writers of one file would leave a torn one.
void LeaveFilesToRank0() {
  if (TestRank() == 0) return;
  GTEST_FLAG_SET(output, "");
  unsetenv("TEST_PREMATURE_EXIT_FILE");
}

}  // namespace

int TestRankMain(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  UseTestDevice(argc, argv, TestLocalWorldSize());
  LeaveFilesToRank0();
  const int failed = RUN_ALL_TESTS();
  if (::testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
    std::fprintf(stderr, "no test case was linked or selected\n");
    return 1;
  }
  return failed;
}

}  // namespace trainyard

int main(int argc, char** argv) { return trainyard::TestRankMain(argc, argv); }
