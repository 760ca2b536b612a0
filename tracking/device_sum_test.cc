#include "tracking/device_sum.h"

#include <ATen/ops/full.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

TEST(DeviceSumTest, HeaderExample) {
  const at::Tensor loss = at::full({}, 0.5);
  DeviceSum sum;
  EXPECT_EQ(sum.Read(), 0);
  sum.Add(loss, /*weight=*/8);
  const double total = sum.Read();
  EXPECT_EQ(total, 4);
}

TEST(DeviceSumTest, ACopyHasASumOfItsOwn) {
  DeviceSum sum;
  sum.Add(at::full({}, 1.0), 2);
  const DeviceSum before = sum;
  sum.Add(at::full({}, 1.0), 3);
  EXPECT_EQ(before.Read(), 2);
  EXPECT_EQ(sum.Read(), 5);
}

TEST(DeviceSumTest, TheFirstValueIsNotChanged) {
  const at::Tensor first = at::full({1}, 1.0, at::kDouble);
  DeviceSum sum;
  sum.Add(first, 1);
  sum.Add(first, 1);
  EXPECT_EQ(first.item<double>(), 1);
}

TEST(DeviceSumTest, ManySmallValuesDoNotLoseDigits) {
  DeviceSum sum;
  const at::Tensor value = at::full({}, 0.1F);
  for (int i = 0; i < 10000; ++i) sum.Add(value, 1);
  EXPECT_NEAR(sum.Read(), 10000 * static_cast<double>(0.1F), 1e-8);
}

}  // namespace
}  // namespace trainyard
