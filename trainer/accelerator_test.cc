#include "trainer/accelerator.h"

#include <ATen/ops/ones.h>
#include <c10/core/Device.h>
#include <gtest/gtest.h>

#include "tools/launch/testing/test_rank.h"

namespace trainyard {
namespace {

TEST(AcceleratorTest, IsTheDeviceOfTheTest) {
  const at::Device device = DefaultDevice();
  EXPECT_EQ(device, at::Device(TestDevice()));
  EXPECT_EQ(at::ones({2}, device).sum().item<double>(), 2);
}

}  // namespace
}  // namespace trainyard
