#include "backends/amp.h"

#include <ATen/ops/full.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "backends/single_process.h"
#include "backends/slow_bf16.h"
#include "backends/testing/backend_conformance.h"
#include "tools/launch/testing/test_rank.h"
#include "trainer/optim/sgd.h"

namespace trainyard {
namespace {

at::Device Device() { return at::Device(TestDevice()); }

std::unique_ptr<Backend> MakeAmp(c10::ScalarType dtype) {
  return MakeAmpBackend(
      MakeSingleProcessBackend(Device()),
      {.dtype = dtype, .scaler = {.init_scale = 1024, .growth_interval = 2}});
}

INSTANTIATE_TEST_SUITE_P(
    Amp, BackendConformanceTest,
    ::testing::Values(BackendCase{"bf16",
                                  [] { return MakeAmp(at::kBFloat16); }},
                      BackendCase{"fp16", [] { return MakeAmp(at::kHalf); }}),
    BackendCaseName);

TEST(AmpTest, HeaderExample) {
  auto backend = MakeAmpBackend(MakeSingleProcessBackend(at::kCPU),
                                {.dtype = at::kBFloat16});
  EXPECT_EQ(backend->name(), "sp-amp");
  const at::Tensor a = at::ones({2, 2});
  backend->Forward(
      [&] { EXPECT_EQ(at::matmul(a, a).scalar_type(), at::kBFloat16); });
}

class Warnings final : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override { texts += warning.msg(); }
  std::string texts;
};

TEST(AmpTest, WarnsWhereBfloat16IsSlow) {
  Warnings warnings;
  const c10::WarningUtils::WarningHandlerGuard guard(&warnings);
  MakeAmp(at::kHalf);
  EXPECT_EQ(warnings.texts, "");
  MakeAmp(at::kBFloat16);
  EXPECT_EQ(
      warnings.texts.find("no instructions for bfloat16") != std::string::npos,
      Device().is_cpu() && !CpuHasBf16());
}

// Whether an update is decided on the device.
bool IsLate(const Backend& backend) {
  return !backend.device().is_cpu() && backend.SaveState().Has("scale");
}

class Rig {
 public:
  explicit Rig(c10::ScalarType dtype) : backend(MakeAmp(dtype)) {}

  // One window; its loss is gradient * w. Returns whether w was updated.
  bool Run(double gradient, const Clip& clip = {}) {
    at::Tensor loss;
    backend->Forward([&] { loss = w.mul(gradient).sum(); });
    backend->Backward(loss, {});
    backend->FinishGradients(sgd);
    seen = w.grad().item<double>();
    const bool updated = backend->Update(sgd, {.clip = clip});
    sgd.ZeroGrad();
    backend->EndWindow();
    // On an accelerator only the device knows so far.
    EXPECT_EQ(backend->outcome_is_open(sgd), IsLate(*backend));
    return IsLate(*backend) ? backend->ReadOutcome(sgd) : updated;
  }

  at::Tensor w = at::ones({1}, Device()).requires_grad_();
  SGD sgd{{w}, {.lr = 1}};
  std::unique_ptr<Backend> backend;
  double seen = 0;
};

double Scale(const Backend& backend) {
  return backend.SaveState().Get<double>("scale");
}

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(AmpTest, GradientsAreUnscaledBeforeClipping) {
  Rig rig(at::kHalf);
  EXPECT_TRUE(rig.Run(0.5, ClipNorm(0.25)));
  EXPECT_EQ(rig.seen, 0.5);
  EXPECT_NEAR(rig.w.item<float>(), 0.75, 1e-5);
}

TEST(AmpTest, SkipsAStepWithInfAndLowersTheScale) {
  Rig rig(at::kHalf);
  EXPECT_FALSE(rig.Run(kInf));
  EXPECT_EQ(rig.w.item<float>(), 1);
  EXPECT_EQ(Scale(*rig.backend), 512);
  EXPECT_TRUE(rig.Run(1));
  EXPECT_TRUE(rig.Run(1));
  EXPECT_EQ(Scale(*rig.backend), 1024);  // after two good ones in a row
  EXPECT_EQ(rig.w.item<float>(), -1);
}

// Nobody asks whether it was updated, as in a loop of the user's own.
TEST(AmpTest, SkipsAStepThatNobodyAsksAbout) {
  const auto backend = MakeAmp(at::kHalf);
  at::Tensor w = at::ones({1}, Device()).requires_grad_();
  // The first step of a momentum is the whole gradient.
  SGD sgd{{w}, {.lr = 1, .momentum = 0.5, .dampening = 0.5}};
  for (const double gradient : {kInf, 1.0, kInf, 2.0}) {
    at::Tensor loss;
    backend->Forward([&] { loss = w.mul(gradient).sum(); });
    backend->Backward(loss, {});
    backend->FinishGradients(sgd);
    backend->Update(sgd, {});
    sgd.ZeroGrad();
    backend->EndWindow();
  }
  // 1 - 1 - (0.5 * 1 + 0.5 * 2)
  EXPECT_EQ(w.item<float>(), -1.5);
  EXPECT_EQ(Scale(*backend), 256);
}

TEST(AmpTest, ContinuesFromItsState) {
  Rig before(at::kHalf);
  before.Run(1);
  Rig after(at::kHalf);
  after.backend->LoadState(before.backend->SaveState());
  after.Run(1);
  EXPECT_EQ(Scale(*after.backend), 2048);
}

TEST(AmpTest, BFloat16HasNoScale) {
  Rig rig(at::kBFloat16);
  EXPECT_TRUE(rig.Run(0.5));
  EXPECT_FALSE(rig.backend->SaveState().Has("scale"));
}

// A task that calls Backward itself does so inside Forward.
TEST(AmpTest, BackwardInsideForwardIsNotCast) {
  const auto backend = MakeAmp(at::kBFloat16);
  at::Tensor w = at::ones({1}, Device()).requires_grad_();
  at::ScalarType in_backward = at::kLong;
  w.register_hook([&](const at::Tensor&) {
    const at::Tensor a = at::ones({2, 2}, Device());
    in_backward = at::matmul(a, a).scalar_type();
  });
  backend->Forward([&] { backend->Backward(w.sum(), {}); });
  EXPECT_EQ(in_backward, at::kFloat);
}

TEST(AmpTest, RejectsOtherTypes) {
  EXPECT_THROW(MakeAmp(at::kFloat), c10::ValueError);
}

}  // namespace
}  // namespace trainyard
