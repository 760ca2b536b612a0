#include "trainer/scalar_value.h"

#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include "trainer/task.h"

namespace trainyard {
namespace {

TEST(ScalarValueTest, HeaderExample) {
  const StepOutput output{.loss = at::full({}, 0.25)};
  const double loss = ScalarValue(output.loss);
  EXPECT_EQ(loss, 0.25);
}

TEST(ScalarValueTest, EqualsItemForEveryType) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kHalf,
                                    at::kBFloat16, at::kLong, at::kBool}) {
    const at::Tensor value = at::full({1, 1}, 0.1).to(type);
    EXPECT_EQ(ScalarValue(value), value.item<double>()) << type;
  }
  EXPECT_EQ(ScalarValue(at::full({}, 1.0 / 3, at::kDouble)), 1.0 / 3);
}

TEST(ScalarValueTest, ReadsTheElementOfAView) {
  const at::Tensor values = at::tensor({1.0, 2.0, 3.0});
  EXPECT_EQ(ScalarValue(values[2]), 3.0);
  EXPECT_EQ(ScalarValue(values.narrow(0, 1, 1)), 2.0);
}

TEST(ScalarValueTest, RejectsAnythingElse) {
  EXPECT_THROW(ScalarValue(at::ones({2})), c10::Error);
  EXPECT_THROW(ScalarValue(at::ones({0})), c10::Error);
}

}  // namespace
}  // namespace trainyard
