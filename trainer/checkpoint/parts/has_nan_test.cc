#include "trainer/checkpoint/parts/has_nan.h"

#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <limits>

namespace trainyard {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

absl::Status HeaderExample(const at::Tensor& weight) {
  if (HasNan(weight)) return absl::FailedPreconditionError("NaN");
  return absl::OkStatus();
}

TEST(HasNanTest, HeaderExample) {
  EXPECT_TRUE(HeaderExample(at::zeros({3})).ok());
  EXPECT_FALSE(HeaderExample(at::full({3}, kNan)).ok());
}

TEST(CheckNoNanTest, NamesTensorAndGroup) {
  EXPECT_TRUE(CheckNoNan("model", {"w", at::zeros({3})}).ok());
  EXPECT_EQ(CheckNoNan("model", {"w", at::full({3}, kNan)}).message(),
            "tensor \"w\" of \"model\" contains NaN; earlier checkpoints are "
            "kept");
}

TEST(HasNanTest, FindsNanAnywhere) {
  for (const at::ScalarType type :
       {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16, at::kComplexFloat,
        at::kComplexDouble}) {
    for (const int64_t size : {1, 7, 4096, 10000}) {
      for (const int64_t place : {int64_t{0}, size / 2, size - 1}) {
        for (const double sign : {1.0, -1.0}) {
          at::Tensor tensor = at::full({size}, -1, type);
          EXPECT_FALSE(HasNan(tensor)) << type << size;
          tensor[place] = sign * kNan;
          EXPECT_TRUE(HasNan(tensor)) << type << " " << size << " " << place;
        }
      }
    }
  }
}

TEST(HasNanTest, InfinitiesAndOtherTypesAreNotNan) {
  for (const at::ScalarType type :
       {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16}) {
    EXPECT_FALSE(HasNan(at::full({5}, kInf, type))) << type;
    EXPECT_FALSE(HasNan(at::full({5}, -kInf, type))) << type;
  }
  EXPECT_FALSE(HasNan(at::full({5}, -1, at::kLong)));
  EXPECT_FALSE(HasNan(at::full({5}, true, at::kBool)));
  EXPECT_FALSE(HasNan(at::zeros({0})));
}

}  // namespace
}  // namespace trainyard
