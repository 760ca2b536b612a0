#include "trainer/model/tensor_match.h"

#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <memory>

#include "trainer/model/model.h"

namespace trainyard {
namespace {

class TwoTensors final : public Model {
 public:
  void SetTraining(bool) override {}
  void To(at::Device) override {}
  std::vector<NamedTensor> Parameters() const override {
    return {{"a", a_}, {"b", b_}};
  }
  std::vector<NamedTensor> Buffers() const override { return {}; }

 private:
  at::Tensor a_ = at::full({2}, 0.0);
  at::Tensor b_ = at::full({}, 0.0);
};

absl::Status HeaderExample(const std::vector<NamedTensor>& saved,
                           const std::shared_ptr<Model>& model) {
  const absl::Status loaded = LoadTensors(saved, model->Parameters());
  if (!loaded.ok()) return loaded;  // lists every difference
  return absl::OkStatus();
}

TEST(TensorMatchTest, HeaderExample) {
  const auto model = std::make_shared<TwoTensors>();
  const absl::Status loaded = HeaderExample(
      {{"b", at::full({}, 3.0)}, {"a", at::full({2}, 1.0)}}, model);
  ASSERT_TRUE(loaded.ok()) << loaded;
  EXPECT_EQ(model->Parameters()[0].tensor.sum().item<float>(), 2);
  EXPECT_EQ(model->Parameters()[1].tensor.item<float>(), 3);
}

TEST(TensorMatchTest, ReportsAllDifferencesAndChangesNothing) {
  const std::vector<NamedTensor> wanted = {{"a", at::full({2}, 0.0)},
                                           {"b", at::full({2, 3}, 0.0)},
                                           {"c", at::full({}, 0.0)},
                                           {"e", at::full({}, 0.0)}};
  const absl::Status status =
      LoadTensors({{"a", at::full({2}, 1.0)},
                   {"b", at::full({2, 4}, 1.0)},
                   {"d", at::full({}, 1.0)},
                   {"e", at::full({}, 1.0, at::kDouble)}},
                  wanted);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_EQ(status.message(),
            "the saved tensors do not fit:\n"
            "1 missing:\n  \"c\"\n"
            "1 unexpected:\n  \"d\"\n"
            "2 different:\n"
            "  \"b\": saved as Float [2, 4], wanted as Float [2, 3]\n"
            "  \"e\": saved as Double [], wanted as Float []");
  EXPECT_EQ(wanted[0].tensor.sum().item<float>(), 0);
}

TEST(TensorMatchTest, ConvertsTypesIfAsked) {
  const std::vector<NamedTensor> wanted = {{"a", at::full({2}, 0.0)}};
  const std::vector<NamedTensor> saved = {{"a", at::full({2}, 3.0, at::kLong)}};
  EXPECT_FALSE(LoadTensors(saved, wanted).ok());
  EXPECT_TRUE(LoadTensors(saved, wanted, TensorTypes::kConvert).ok());
  EXPECT_EQ(wanted[0].tensor.scalar_type(), at::kFloat);
  EXPECT_EQ(wanted[0].tensor.sum().item<float>(), 6);
  // Shapes are never converted.
  EXPECT_FALSE(
      LoadTensors({{"a", at::full({2, 1}, 3.0)}}, wanted, TensorTypes::kConvert)
          .ok());
}

TEST(TensorMatchTest, ParametersKeepTheirMemoryAndRequireGradients) {
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
