#include "backends/amp.h"

#include <ATen/ops/full.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "backends/single_process.h"
#include "backends/testing/backend_conformance.h"
#include "trainer/optim/sgd.h"

namespace trainyard {
namespace {

std::unique_ptr<Backend> MakeAmp(c10::ScalarType dtype) {
  return MakeAmpBackend(
      MakeSingleProcessBackend(at::kCPU),
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
      !__builtin_cpu_supports("avx512bf16"));
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
    return updated;
  }

  at::Tensor w = at::ones({1}).requires_grad_();
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
  at::Tensor w = at::ones({1}).requires_grad_();
  at::ScalarType in_backward = at::kLong;
  w.register_hook([&](const at::Tensor&) {
    const at::Tensor a = at::ones({2, 2});
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
