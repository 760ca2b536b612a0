#include "backends/testing/backend_conformance.h"

#include <ATen/ops/allclose.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>
#include <gmock/gmock.h>

#include <optional>

#include "trainer/optim/clip.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

// An optimizer that only records the gradients of its last step, divided. Where
// gradients are sharded, they are this rank's slice.
class Spy final : public Optimizer {
 public:
  explicit Spy(const at::Tensor& parameter)
      : Optimizer("Spy", ParamGroups({parameter}), {{"lr", 0}}) {}
  std::vector<NamedTensor> NamedTensors() const override { return {}; }
  bool element_wise() const override { return true; }
  at::Tensor gradient() { return param_groups()[0].params()[0].grad(); }
  at::Tensor seen;

 private:
  void ReplaceBySlices(const SlicesByWhole&) override {}
  void Step(const std::optional<at::Tensor>& divisor) override {
    seen = divisor ? gradient().div(*divisor) : gradient().clone();
  }
};

class Step {
 public:
  explicit Step(Backend& backend) : backend_(backend) {
    backend_.Prepare({{"model", {{"w", parameter_}}}});
  }

  // Backward of a loss whose gradient is (3, 4), then one update.
  at::Tensor Run(double share, const UpdateOptions& options) {
    Backward({.share = share});
    backend_.FinishGradients(spy_);
    EXPECT_TRUE(backend_.Update(spy_, options));
    spy_.ZeroGrad();
    backend_.EndWindow();
    return Whole(spy_.seen);
  }

  void Backward(const BackwardOptions& options) {
    at::Tensor loss;
    backend_.Forward([&] { loss = parameter_.mul(direction_).sum(); });
    backend_.Backward(loss, options);
  }

  double Finish() { return backend_.FinishGradients(spy_); }
  at::Tensor Gradient() { return Whole(spy_.gradient()); }

 private:
  // The gradient of the whole parameter, from the slices of all ranks.
  at::Tensor Whole(const at::Tensor& gradient) {
    if (!backend_.shards_gradients()) return gradient;
    const ParamSlice& own = spy_.slices().at("0");
    at::Tensor whole = at::zeros_like(parameter_);
    whole.narrow(0, own.begin, own.slice.numel()).copy_(gradient);
    backend_.collectives().AllReduce(whole, ReduceOp::kSum);
    return whole;
  }

  Backend& backend_;
  at::Tensor direction_ = at::tensor({3.0F, 4.0F}, backend_.device());
  at::Tensor parameter_ = at::ones({2}, backend_.device()).requires_grad_();
  Spy spy_{parameter_};
};

void ExpectNear(const at::Tensor& actual,
                std::initializer_list<float> expected) {
  EXPECT_TRUE(at::allclose(actual.cpu(), at::tensor(expected), 1e-5, 1e-6))
      << actual;
}

TEST_P(BackendConformanceTest, UpdateSeesTheGradient) {
  ExpectNear(Step(*backend_).Run(1, {}), {3, 4});
}

TEST_P(BackendConformanceTest, ShareScalesTheGradient) {
  ExpectNear(Step(*backend_).Run(0.5, {}), {1.5, 2});
}

TEST_P(BackendConformanceTest, GradientsOfAWindowAreSummed) {
  Step step(*backend_);
  for (int window = 0; window < 3; ++window) {
    step.Backward({.share = 0.5, .sync = false});
    step.Backward({.share = 0.25, .sync = false});
    ExpectNear(step.Run(0.5, {}), {3.75, 5});
  }
}

// A model and its optimizer end, and others take their place in memory.
TEST_P(BackendConformanceTest, TrainsModelsOneAfterTheOther) {
  std::optional<Step> step;
  for (int model = 0; model < 3; ++model) {
    step.emplace(*backend_);
    ExpectNear(step->Run(1, {}), {3, 4});
  }
}

TEST_P(BackendConformanceTest, FinishedGradientsAreUnscaled) {
  Step step(*backend_);
  step.Backward({});
  step.Finish();
  ExpectNear(step.Gradient(), {3, 4});
}

TEST_P(BackendConformanceTest, WeightIsTheMeanOfAllRanks) {
  Step step(*backend_);
  step.Backward({.weight = 5});
  EXPECT_EQ(step.Finish(), 5);
}

TEST_P(BackendConformanceTest, ARankWithoutABatchTakesPart) {
  Step step(*backend_);
  step.Backward({.share = 0.5, .sync = false});
  backend_->BackwardWithoutBatch({.weight = 2});
  EXPECT_EQ(step.Finish(), 2);
  ExpectNear(step.Gradient(), {1.5, 2});
}

TEST_P(BackendConformanceTest, ReferenceWeightIsTheLargestOfAllRanks) {
  EXPECT_EQ(backend_->ReferenceWeight(3), 3);
}

TEST_P(BackendConformanceTest, StateLoadsIntoANewBackend) {
  const auto restored = GetParam().make();
  const State initial = restored->SaveState();
  Step(*backend_).Run(1, {});
  backend_->ReferenceWeight(3);
  const State state = backend_->SaveState();
  // Else a LoadState that does nothing would pass.
  if (!state.values().empty()) {
    EXPECT_NE(state.values(), initial.values());
  }
  restored->LoadState(state);
  EXPECT_EQ(restored->SaveState().values(), state.values());
  // Both continue alike.
  ExpectNear(Step(*restored).Run(1, {}), {3, 4});
  ExpectNear(Step(*backend_).Run(1, {}), {3, 4});
  EXPECT_EQ(restored->SaveState().values(), backend_->SaveState().values());
}

TEST_P(BackendConformanceTest, DividesBeforeClipping) {
  ExpectNear(Step(*backend_).Run(1, {.divisor = 2}), {1.5, 2});
  ExpectNear(Step(*backend_).Run(1, {.divisor = 2, .clip = ClipNorm(2.6)}),
             {1.5, 2});  // the norm is 2.5
  ExpectNear(Step(*backend_).Run(1, {.divisor = 2, .clip = ClipNorm(1.25)}),
             {0.75, 1});
  ExpectNear(Step(*backend_).Run(1, {.divisor = 2, .clip = ClipValue(1.75)}),
             {1.5, 1.75});
}

TEST_P(BackendConformanceTest, ClipsByNormValueOrFunction) {
  ExpectNear(Step(*backend_).Run(1, {.clip = ClipNorm(1)}), {0.6, 0.8});
  ExpectNear(Step(*backend_).Run(1, {.clip = ClipValue(3.5)}), {3, 3.5});
  const Clip negate =
      ClipWith([](const auto& gradients) { gradients[0].neg_(); });
  if (backend_->shards_gradients()) {
    // The function would see only this rank's slices.
    EXPECT_THROW(Step(*backend_).Run(1, {.clip = negate}), c10::ValueError);
  } else {
    ExpectNear(Step(*backend_).Run(1, {.clip = negate}), {-3, -4});
  }
}

// Each batch alone exceeds the limits of the first two; their sum is (3, 4).
TEST_P(BackendConformanceTest, ClipsTheSumOfAWindowOnce) {
  Step step(*backend_);
  const auto window = [&](const Clip& clip) {
    step.Backward({.share = 3, .sync = false});
    step.Backward({.share = -4, .sync = false});
    return step.Run(2, {.clip = clip});
  };
  ExpectNear(window(ClipValue(5)), {3, 4});
  ExpectNear(window(ClipNorm(6)), {3, 4});
  ExpectNear(window(ClipValue(3.5)), {3, 3.5});
  if (backend_->shards_gradients()) return;  // ClipWith is refused
  int calls = 0;
  window(ClipWith([&](const auto&) { ++calls; }));
  EXPECT_EQ(calls, 1);
}

TEST_P(BackendConformanceTest, RejectsALossWithoutAGradient) {
  const at::Tensor w = at::ones({2}, backend_->device()).requires_grad_();
  const auto message = [&](const at::Tensor& loss) -> std::string {
    try {
      backend_->Backward(loss, {});
    } catch (const c10::ValueError& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_THAT(message(at::Tensor()), HasSubstr("no loss"));
  EXPECT_THAT(message(w.mul(2)), HasSubstr("shape [2]"));
  EXPECT_THAT(message(at::ones({}, backend_->device())),
              HasSubstr("no gradient"));
}

TEST_P(BackendConformanceTest, CollectivesReachAllRanks) {
  EXPECT_GE(backend_->num_processes(), 1);
  EXPECT_GE(backend_->rank(), 0);
  EXPECT_LT(backend_->rank(), backend_->num_processes());
  at::Tensor one = at::ones({}, backend_->device());
  backend_->collectives().AllReduce(one, ReduceOp::kSum);
  EXPECT_EQ(one.item<int64_t>(), backend_->num_processes());
  EXPECT_TRUE(backend_->collectives().Any(true));
  EXPECT_FALSE(backend_->collectives().Any(false));
}

}  // namespace
}  // namespace trainyard
