#include "trainer/checkpoint/parts/tensor_match.h"

#include <ATen/ops/full.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

std::vector<NamedTensor> Wanted() {
  return {{"a", at::full({2}, 0.0)},
          {"b", at::full({2, 3}, 0.0)},
          {"c", at::full({}, 0.0)}};
}

const std::vector<NamedTensor> kSaved = {{"a", at::full({2}, 1.0)},
                                         {"b", at::full({2, 4}, 1.0)},
                                         {"d", at::full({}, 1.0)}};

TEST(TensorMatchTest, AllDifferencesAreToldAndNothingIsChanged) {
  const std::vector<NamedTensor> wanted = Wanted();
  const absl::Status status = LoadTensors(kSaved, wanted);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_EQ(status.message(),
            "the saved tensors do not fit:\n"
            "1 missing:\n  \"c\"\n"
            "1 unexpected:\n  \"d\"\n"
            "1 different:\n  \"b\": saved as Float [2, 4], wanted as Float [2, "
            "3]");
  EXPECT_EQ(wanted[0].tensor.sum().item<float>(), 0);
}

TEST(TensorMatchTest, WhatMatchesIsLoadedIfThatIsAskedFor) {
  const std::vector<NamedTensor> wanted = Wanted();
  const auto rest = LoadMatchingTensors(kSaved, wanted);
  ASSERT_TRUE(rest.ok()) << rest.status();
  EXPECT_EQ(rest->different.size(), 1U);
  EXPECT_EQ(wanted[0].tensor.sum().item<float>(), 2);
  EXPECT_EQ(wanted[1].tensor.sum().item<float>(), 0);
  EXPECT_FALSE(LoadMatchingTensors({{"x", at::full({2}, 1.0)}}, wanted).ok());
}

TEST(TensorMatchTest, ParametersKeepTheirPlaceAndTheirGradient) {
  const at::Tensor parameter = at::full({2}, 0.0).requires_grad_();
  const void* const memory = parameter.data_ptr();
  ASSERT_TRUE(
      LoadTensors({{"a", at::full({2}, 3.0)}}, {{"a", parameter}}).ok());
  EXPECT_EQ(parameter.data_ptr(), memory);
  EXPECT_TRUE(parameter.requires_grad() && parameter.is_leaf());
  EXPECT_EQ(parameter.sum().item<float>(), 6);
}

}  // namespace
}  // namespace trainyard
