#include "trainer/accelerator.h"

#include <ATen/Context.h>
#include <c10/core/Device.h>
#include <gtest/gtest.h>

#include "tools/launch/testing/test_rank.h"

namespace trainyard {
namespace {

TEST(AcceleratorTest, IsTheDeviceOfTheTest) {
  const at::Device device = DefaultDevice();
  EXPECT_EQ(device, at::Device(TestDevice()));
}

}  // namespace
}  // namespace trainyard
