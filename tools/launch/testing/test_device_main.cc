#include "tools/launch/testing/test_device_main.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "backends/testing/standin/standin.h"
#include "tools/launch/testing/test_device.h"

namespace trainyard {

int TestDeviceMain(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  UseTestDevice(argc, argv, /*ranks=*/1);
  const int failed = RUN_ALL_TESTS();
  if (StandInIsRegistered() && StandInLaunches() == 0) {
    std::fprintf(stderr, "no test case used the stand-in\n");
    return 1;
  }
  return failed;
}

}  // namespace trainyard

int main(int argc, char** argv) {
  return trainyard::TestDeviceMain(argc, argv);
}
