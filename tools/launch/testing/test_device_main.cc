#include "tools/launch/testing/test_device_main.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/launch/testing/test_device.h"

namespace trainyard {

int TestDeviceMain(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  UseTestDevice(argc, argv, /*ranks=*/1);
  return RUN_ALL_TESTS();
}

}  // namespace trainyard

int main(int argc, char** argv) {
  return trainyard::TestDeviceMain(argc, argv);
}
