#include "trainer/loop/held_tensors.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "backends/backend_decorator.h"
#include "backends/single_process.h"
#include "tools/testing/error_of.h"
#include "trainer/optim/adamw.h"
#include "trainer/optim/lamb.h"
#include "trainer/or_throw.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

// Holds elements 2 to 4 of every matrix.
class Sharding final : public BackendDecorator {
 public:
  Sharding() : BackendDecorator(MakeSingleProcessBackend(at::kCPU)) {}
  std::optional<TensorSlice> HeldSlice(
      const at::Tensor& parameter) const override {
    if (parameter.dim() != 2) return std::nullopt;
    return TensorSlice{"", SliceOf(parameter, 2, 3), parameter.sizes().vec(),
                       2};
  }
};

struct TwoTensors {
  std::vector<NamedTensor> NamedTensors() const {
    return {{"bias", bias}, {"weight", weight}};
  }
  at::Tensor bias = at::zeros({2});
  at::Tensor weight = at::zeros({2, 4});
};

std::vector<NamedTensor> Saved() {
  return {{"bias", at::arange(2, at::kFloat)},
          {"weight", at::arange(8, at::kFloat).reshape({2, 4})}};
}

TEST(HeldTensorsTest, LoadsOnlyTheSlicesOfSavedTensors) {
  const TwoTensors task;
  const Sharding backend;
  const std::vector<NamedTensor> saved = Saved();
  const HeldTensors held = HeldOf(task.NamedTensors(), backend);
  LoadHeld(saved, held);  // whole tensors, cut to the slices
  ASSERT_EQ(held.slices.size(), 1);
  EXPECT_EQ(held.slices[0].name, "weight");
  EXPECT_TRUE(task.bias.equal(saved[0].tensor));
  at::Tensor expected = at::zeros({2, 4});
  SliceOf(expected, 2, 3).copy_(at::arange(2, 5));
  EXPECT_TRUE(task.weight.equal(expected));
}

TEST(HeldTensorsTest, RefusesAnotherShape) {
  const TwoTensors task;
  std::vector<NamedTensor> saved = Saved();
  saved[1].tensor = saved[1].tensor.reshape({4, 2});
  EXPECT_THAT(ErrorOf<StatusError>([&] {
                LoadHeld(saved, HeldOf(task.NamedTensors(), Sharding()));
              }),
              HasSubstr("\"weight\": saved as Float [4, 2]"));
}

// An optimizer with slices keeps the state that it has, and takes whole state.
TEST(HeldTensorsTest, StateOfAnOptimizerIsCutToItsSlices) {
  const auto weight = at::zeros({2, 4}).set_requires_grad(true);
  const auto scale = at::zeros({}).set_requires_grad(true);
  AdamW whole({{.params = {{"scale", scale}, {"weight", weight}}}});
  AdamW sliced({{.params = {{"scale", scale}, {"weight", weight}}}});
  weight.mutable_grad() = at::arange(8, at::kFloat).reshape({2, 4});
  scale.mutable_grad() = at::zeros({});
  whole.step();
  const std::vector<NamedTensor> state = whole.NamedTensors();

  const at::Tensor slice = SliceOf(weight.detach(), 2, 3);
  const at::Tensor nothing = SliceOf(scale.detach(), 0, 0);
  sliced.UseSlices({{weight, slice, 2}, {scale, nothing, 0}});
  sliced.LoadTensors(state);
  whole.UseSlices({{weight, slice, 2}, {scale, nothing, 0}});
  for (const Optimizer* const optimizer : {&sliced, &whole}) {
    const HeldTensors held = HeldOf(*optimizer);
    EXPECT_EQ(held.whole.size(), 2);  // the counters
    ASSERT_EQ(held.slices.size(), 4);
    EXPECT_EQ(held.slices[0].name, "scale/exp_avg");
    EXPECT_EQ(held.slices[0].values.numel(), 0);
    EXPECT_EQ(held.slices[2].name, "weight/exp_avg");
    EXPECT_TRUE(held.slices[2].values.equal(SliceOf(state[3].tensor, 2, 3)));
    EXPECT_EQ(held.slices[2].sizes, (std::vector<int64_t>{2, 4}));
    EXPECT_EQ(held.slices[2].begin, 2);
  }
}

TEST(HeldTensorsTest, AnOptimizerOfWholeTensorsTakesNoSlices) {
  const auto weight = at::zeros({2, 4}).set_requires_grad(true);
  Lamb optimizer({weight});
  EXPECT_THAT(
      ErrorOf<c10::ValueError>([&] {
        optimizer.UseSlices({{weight, SliceOf(weight.detach(), 0, 4), 0}});
      }),
      HasSubstr("Lamb: an update looks at whole tensors"));
  EXPECT_TRUE(optimizer.slices().empty());
}

}  // namespace
}  // namespace trainyard
