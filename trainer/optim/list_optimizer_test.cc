#include "trainer/optim/list_optimizer.h"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "tools/launch/testing/test_rank.h"
#include "tools/testing/error_of.h"
#include "trainer/optim/adam.h"
#include "trainer/optim/adamw.h"
#include "trainer/optim/lbfgs.h"
#include "trainer/optim/sgd.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

at::Device Device() { return at::Device(TestDevice()); }

class Plain final : public ListOptimizer {
 public:
  Plain(const ParamGroups& groups, double lr)
      : ListOptimizer("Plain", groups, {{"lr", lr}}) {}

 private:
  void Update(Lists& lists) override {
    at::_foreach_add_(lists.params, lists.grads, -lists.fields[0]);
  }
};

// Records the calls of Update.
class Recorder final : public ListOptimizer {
 public:
  explicit Recorder(const ParamGroups& groups)
      : ListOptimizer("Recorder", groups, {{"lr", 1}}) {
    AddState("average");
    AddState("rows", [](const Lists&, const at::Tensor& param) {
      return param.dim() > 1 ? at::ones({param.size(0)}, Device())
                             : at::Tensor();
    });
    AddSteps();
  }
  // (updates so far, number of parameters) of each call.
  std::vector<std::pair<double, size_t>> calls;

 private:
  void Update(Lists& lists) override {
    EXPECT_EQ(lists.grads.size(), lists.params.size());
    EXPECT_EQ(lists.state[0].size(), lists.params.size());
    calls.emplace_back(lists.step, lists.params.size());
    at::_foreach_add_(lists.state[0], lists.grads);
  }
};

at::Tensor Parameter(at::ScalarType type = at::kFloat) {
  return at::ones({2}, at::device(Device()).dtype(type)).requires_grad_();
}

void SetGradient(const at::Tensor& param, double value) {
  param.mutable_grad() = at::full_like(param.detach(), value);
}

TEST(ListOptimizerTest, HeaderExample) {
  const at::Tensor w = Parameter();
  Plain optimizer({w}, 0.5);
  SetGradient(w, 4);
  optimizer.step();
  EXPECT_TRUE(at::equal(w, at::full({2}, -1.0F, Device())));
}

TEST(ListOptimizerTest, GradientsAreDividedOnRequest) {
  const at::Tensor w = Parameter();
  Plain optimizer({w}, 0.5);
  SetGradient(w, 4);
  optimizer.StepDivided(at::full({}, 4.0F, Device()));
  EXPECT_TRUE(at::equal(w, at::full({2}, 0.5F, Device())));
}

// Steps of which the second and third are skipped, beside the others alone.
template <class T, class Options>
void ExpectSkipped(const Options& options) {
  const at::Tensor flagged = Parameter(), plain = Parameter();
  T some({flagged}, options), all({plain}, options);
  for (const double gradient : {3.0, 5.0, 7.0, -2.0, 4.0}) {
    const bool skip = gradient >= 5;
    SetGradient(flagged, 2 * gradient);
    some.StepUnless(at::full({}, skip ? 1.0F : 0.0F, Device()),
                    at::full({}, 2.0F, Device()));
    if (skip) {
      some.TakeBackStep();
    } else {
      SetGradient(plain, gradient);
      all.step();
    }
  }
  EXPECT_TRUE(at::allclose(flagged, plain, 1e-6, 1e-7));
  EXPECT_FALSE(at::equal(flagged, at::ones({2}, Device())));
  const std::vector<NamedTensor> state = some.NamedTensors();
  const std::vector<NamedTensor> expected = all.NamedTensors();
  ASSERT_EQ(state.size(), expected.size());
  for (size_t i = 0; i < state.size(); ++i) {
    EXPECT_TRUE(at::allclose(state[i].tensor, expected[i].tensor, 1e-6, 1e-7))
        << state[i].name;
  }
}

TEST(ListOptimizerTest, AFlagOnTheDeviceSkipsAStep) {
  ExpectSkipped<AdamW>(AdamWOptions{.lr = 0.1});
  ExpectSkipped<AdamW>(AdamWOptions{.lr = 0.1, .amsgrad = true});
  ExpectSkipped<Adam>(AdamOptions{.lr = 0.1, .weight_decay = 0.1});
  ExpectSkipped<SGD>(SGDOptions{.lr = 0.1});
  ExpectSkipped<SGD>(SGDOptions{.lr = 0.1, .momentum = 0.9, .dampening = 0.5});
}

// The first step of a momentum is the whole gradient, whenever it is.
TEST(ListOptimizerTest, TheFirstStepMayBeSkipped) {
  const at::Tensor w = Parameter();
  SGD optimizer({w}, {.lr = 1, .momentum = 0.9, .dampening = 0.5});
  SetGradient(w, 8);
  optimizer.StepUnless(at::ones({}, Device()));
  optimizer.TakeBackStep();
  EXPECT_TRUE(at::equal(w, at::ones({2}, Device())));
  optimizer.StepUnless(at::zeros({}, Device()));
  EXPECT_TRUE(at::equal(w, at::full({2}, -7.0F, Device())));
}

TEST(ListOptimizerTest, OthersRefuseAFlag) {
  const at::Tensor w = Parameter();
  Plain optimizer({w}, 0.5);
  EXPECT_FALSE(optimizer.skips_on_device());
  EXPECT_THAT(ErrorOf<c10::ValueError>(
                  [&] { optimizer.StepUnless(at::zeros({}, Device())); }),
              HasSubstr("Plain: StepUnless: cannot skip a step on the device"));
}

TEST(ListOptimizerTest, SkipsParametersWithoutGradient) {
  const at::Tensor a = Parameter(), b = Parameter();
  Recorder optimizer({a, b});
  SetGradient(a, 1);
  optimizer.step();
  SetGradient(b, 1);
  optimizer.step();  // a for the second time, b for the first
  optimizer.step();
  EXPECT_THAT(optimizer.calls, ElementsAre(std::pair(1.0, 1), std::pair(1.0, 1),
                                           std::pair(2.0, 1), std::pair(2.0, 1),
                                           std::pair(3.0, 1)));
}

TEST(ListOptimizerTest, ParametersWithEqualCountersShareACall) {
  const at::Tensor a = Parameter(), b = Parameter();
  Recorder optimizer({a, b});
  for (const at::Tensor& param : {a, b}) SetGradient(param, 1);
  optimizer.step();
  optimizer.step();
  EXPECT_THAT(optimizer.calls,
              ElementsAre(std::pair(1.0, 2), std::pair(2.0, 2)));
  optimizer.ZeroGrad();
  optimizer.step();
  EXPECT_EQ(optimizer.calls.size(), 2);  // no gradients, no call
}

TEST(ListOptimizerTest, AListHasOneType) {
  const at::Tensor a = Parameter(), b = Parameter(at::kDouble);
  Recorder optimizer({a, b});
  for (const at::Tensor& param : {a, b}) SetGradient(param, 1);
  optimizer.step();
  EXPECT_THAT(optimizer.calls,
              ElementsAre(std::pair(1.0, 1), std::pair(1.0, 1)));
}

TEST(ListOptimizerTest, StateIsNamedAndLeavesOutUndefinedTensors) {
  const at::Tensor matrix = at::ones({3, 2}, Device()).requires_grad_();
  const Recorder optimizer({{.params = {{"m", matrix}, {"v", Parameter()}}}});
  std::vector<std::string> names;
  for (const NamedTensor& item : optimizer.NamedTensors())
    names.push_back(item.name);
  EXPECT_THAT(names, ElementsAre("m/average", "m/rows", "m/step", "v/average",
                                 "v/step"));
}

TEST(ListOptimizerTest, RejectsAStateThatDoesNotFitAndKeepsItsOwn) {
  AdamW optimizer({at::ones({2}, Device()).requires_grad_()});
  EXPECT_THAT(ErrorOf<c10::ValueError>([&] {
                optimizer.LoadTensors({{"0/exp_avg", at::ones({2}, Device())},
                                       {"0/step", at::ones({1, 1}, Device())},
                                       {"1/exp_avg", at::ones({2}, Device())}});
              }),
              HasSubstr("AdamW: the saved tensors do not fit:\n"
                        "1 missing:\n  \"0/exp_avg_sq\"\n"
                        "1 unexpected:\n  \"1/exp_avg\"\n"
                        "1 different:\n  \"0/step\": saved as Float [1, 1], "
                        "wanted as Float []"));
  EXPECT_TRUE(
      at::equal(optimizer.NamedTensors()[0].tensor, at::zeros({2}, Device())));
}

TEST(ListOptimizerTest, GradientsAreNotKeptAlive) {
  const at::Tensor w = Parameter();
  Plain optimizer({w}, 0.5);
  SetGradient(w, 1);
  const at::Tensor gradient = w.grad();
  optimizer.step();
  optimizer.ZeroGrad();
  EXPECT_EQ(gradient.use_count(), 1);
}

TEST(ListOptimizerTest, AnUpdateIsSeenByAutograd) {
  const at::Tensor w = Parameter();
  Plain optimizer({w}, 0.5);
  const at::Tensor loss = w.mul(w).sum();  // keeps w for its backward
  SetGradient(w, 1);
  optimizer.step();
  EXPECT_THROW(loss.backward(), c10::Error);
}

// ATen's fused kernels on the CPU ignore strides and would mix up elements.
TEST(ListOptimizerTest, AGradientInAnotherLayoutIsTheSameGradient) {
  const at::Tensor rows = at::ones({2, 3}, Device()).requires_grad_();
  const at::Tensor columns = at::ones({3, 2}, Device()).t().requires_grad_();
  const at::Tensor gradient =
      at::arange(6, at::device(Device()).dtype(at::kFloat))
          .view({2, 3})
          .sub(2.5);
  AdamW a({rows}, {.lr = 0.1}), b({columns}, {.lr = 0.1});
  for (int update = 0; update < 3; ++update) {
    rows.mutable_grad() = gradient.mul(update - 0.5);
    columns.mutable_grad() = gradient.mul(update - 0.5);
    ASSERT_NE(columns.strides(), columns.grad().strides());
    a.step();
    b.step();
  }
  EXPECT_TRUE(at::allclose(rows, columns, 1e-6, 1e-7));
}

TEST(ListOptimizerTest, FusedKernelsRejectParametersWithGaps) {
  const at::Tensor gaps =
      at::ones({4, 4}, Device()).slice(1, 0, 2).detach().requires_grad_();
  try {
    const AdamW optimizer({{.params = {{"slice", gaps}}}});
    FAIL() << "accepted a slice";
  } catch (const c10::ValueError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("AdamW: parameter \"slice\" has gaps in memory"));
  }
}

// Compares a run in which b is added after two updates of a with runs of a and
// of b alone.
TEST(ListOptimizerTest, AddGroupDoesNotAffectOtherGroups) {
  const at::Tensor a = Parameter(), b = Parameter();
  const at::Tensor only_a = Parameter(), only_b = Parameter();
  AdamW optimizer({{.params = {{"a", a}}}}, {.lr = 0.1});
  AdamW reference_a({{.params = {{"a", only_a}}}}, {.lr = 0.1});
  AdamW reference_b({{.params = {{"b", only_b}}}}, {.lr = 0.01});
  double& lr = optimizer.Field(0, "lr");
  for (int update = 0; update < 5; ++update) {
    if (update == 2) {
      optimizer.AddGroup({.params = {{"b", b}}, .overrides = {{"lr", 0.01}}});
    }
    for (const at::Tensor& param : {a, only_a}) SetGradient(param, update + 1);
    reference_a.step();
    if (update >= 2) {
      for (const at::Tensor& param : {b, only_b}) SetGradient(param, update);
      reference_b.step();
    }
    optimizer.step();
  }
  EXPECT_TRUE(at::equal(a, only_a));
  EXPECT_TRUE(at::equal(b, only_b));
  EXPECT_EQ(&optimizer.Field(0, "lr"), &lr);
  EXPECT_EQ(optimizer.InitialField(1, "lr"), 0.01);
  EXPECT_TRUE(optimizer.Trains(b));
  EXPECT_EQ(optimizer.Gradients().size(), 2);
  EXPECT_EQ(optimizer.NamedTensors().size(), 6);
  optimizer.ZeroGrad();
  EXPECT_FALSE(b.grad().defined());
}

// Two groups, a schedule and a division; the rates as floats.
template <class Make>
at::Tensor TrainedWithRates(const Make& make, bool on_device) {
  const at::Tensor a = Parameter(), b = Parameter();
  const auto optimizer =
      make(ParamGroups({{.params = {{"a", a}}},
                        {.params = {{"b", b}}, .overrides = {{"lr", 0.25}}}}));
  if (on_device) optimizer->KeepRatesOnDevice(true);
  for (int step = 1; step <= 4; ++step) {
    const double rate = 0.1 / step;
    // The last one is a number again.
    if (step == 4) optimizer->KeepRatesOnDevice(false);
    optimizer->Field(0, "lr") =
        on_device || step == 4 ? rate : static_cast<float>(rate);
    SetGradient(a, 0.3 * step);
    SetGradient(b, -0.7);
    if (step % 2 == 0) {
      optimizer->StepDivided(at::full({}, 2.0, Device()));
    } else {
      optimizer->step();
    }
  }
  return at::cat({a.detach(), b.detach()}).cpu();
}

TEST(ListOptimizerTest, RatesOnTheDeviceAreFloats) {
  const auto sgd = [](const ParamGroups& groups) {
    return std::make_unique<SGD>(groups, SGDOptions{.momentum = 0.5});
  };
  const auto adamw = [](const ParamGroups& groups) {
    // Divided gradients are not updated by the kernel of the host then.
    return std::make_unique<AdamW>(groups, AdamWOptions{.amsgrad = true});
  };
  EXPECT_TRUE(TrainedWithRates(sgd, true).equal(TrainedWithRates(sgd, false)));
  EXPECT_TRUE(
      TrainedWithRates(adamw, true).equal(TrainedWithRates(adamw, false)));
  Plain plain({Parameter()}, 0.1);
  EXPECT_FALSE(plain.capturable());
  EXPECT_THAT(ErrorOf<c10::ValueError>([&] { plain.KeepRatesOnDevice(true); }),
              HasSubstr("Plain: its updates cannot be captured"));
}

TEST(ListOptimizerTest, RejectedGroupsAreNotAdded) {
  const at::Tensor a = Parameter(), b = Parameter();
  SGD optimizer({{.params = {{"a", a}}}}, {.momentum = 0.9, .nesterov = true});
  EXPECT_THROW(optimizer.AddGroup({.params = {{"again", a}}}), c10::ValueError);
  EXPECT_THROW(optimizer.AddGroup({.params = {{"a", b}}}), c10::ValueError);
  EXPECT_THROW(optimizer.AddGroup({}), c10::ValueError);
  EXPECT_THROW(
      optimizer.AddGroup({.params = {{"b", b}}, .overrides = {{"size", 1}}}),
      c10::ValueError);
  EXPECT_THROW(optimizer.AddGroup(
                   {.params = {{"b", b}}, .overrides = {{"momentum", 0}}}),
               c10::ValueError);
  EXPECT_EQ(optimizer.num_groups(), 1);
  EXPECT_FALSE(optimizer.Trains(b));
  optimizer.AddGroup({.params = {{"b", b}}});
  LBFGS fixed({a});
  EXPECT_THROW(fixed.AddGroup({.params = {{"b", b}}}), c10::ValueError);
  EXPECT_EQ(fixed.num_groups(), 1);
}

}  // namespace
}  // namespace trainyard
