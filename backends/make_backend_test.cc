#include "backends/make_backend.h"

#include <ATen/ops/ones.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "backends/testing/backend_conformance.h"
#include "trainer/optim/clip.h"
#include "trainer/optim/sgd.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

INSTANTIATE_TEST_SUITE_P(All, BackendConformanceTest,
                         ::testing::Values(BackendCase{
                             "sp", [] { return MakeBackend("sp"); }}),
                         BackendCaseName);

INSTANTIATE_TEST_SUITE_P(Amp, BackendConformanceTest,
                         ::testing::Values(BackendCase{
                             "sp_amp", [] { return MakeBackend("sp-amp"); }}),
                         BackendCaseName);

TEST(MakeBackendTest, HasTheNameItWasMadeBy) {
  EXPECT_EQ(MakeBackend("sp")->name(), "sp");
  EXPECT_EQ(MakeBackend("sp-amp")->name(), "sp-amp");
}

TEST(MakeBackendTest, HeaderExample) {
  const auto backend = MakeBackend("sp-amp", {.amp = {.dtype = at::kHalf}});
  EXPECT_TRUE(backend->SaveState().Has("scale"));
}

// The examples of backend.h, with windows of two batches.
TEST(MakeBackendTest, BackendHeaderExample) {
  const at::Tensor w = at::ones({2}).requires_grad_();
  SGD optimizer({w}, {.lr = 0.1});
  const std::vector<ModelTensors> models = {{"net", {{"w", w}}}};
  const auto task = [&](double batch) { return w.square().sum().mul(batch); };

  const std::unique_ptr<Backend> backend = MakeBackend("sp");
  backend->Prepare(models);
  for (int update = 0; update < 50; ++update) {
    constexpr double share = 0.5, total = 2;
    for (const double batch : {0.5, 1.5}) {
      const bool last = batch == 1.5;
      at::Tensor loss;
      backend->Forward([&] { loss = task(batch); });
      backend->Backward(loss, {.share = share, .sync = last, .weight = total});
    }
    const double weight = backend->FinishGradients(optimizer);
    EXPECT_EQ(weight, total);
    const bool updated = backend->Update(optimizer, {.clip = ClipNorm(1)});
    EXPECT_TRUE(updated);
    optimizer.ZeroGrad();
    backend->EndWindow();
  }
  EXPECT_LT(task(1).item<float>(), 1e-6);
}

// The loop of README.md.
TEST(MakeBackendTest, RunsALoopOfTheUser) {
  const auto backend = MakeBackend("sp-amp");
  const at::Tensor w = at::ones({2}, backend->device()).requires_grad_();
  SGD optimizer({w}, {.lr = 0.1});
  const auto loss_of = [&] { return w.square().sum(); };

  backend->Prepare({{"net", {{"w", w}}}});
  for (int update = 0; update < 50; ++update) {
    at::Tensor loss;
    backend->Forward([&] { loss = loss_of(); });
    backend->Backward(loss, {});
    backend->FinishGradients(optimizer);
    backend->Update(optimizer, {.clip = ClipNorm(1)});
    optimizer.ZeroGrad();
    backend->EndWindow();
  }

  EXPECT_LT(loss_of().item<float>(), 1e-6);
}

TEST(MakeBackendTest, DdpAsksForALauncher) {
  try {
    MakeBackend("ddp");
    FAIL() << "trained with nobody";
  } catch (const std::invalid_argument& e) {
    EXPECT_THAT(e.what(), HasSubstr("start it with tools/launch"));
  }
}

TEST(MakeBackendTest, UnknownNameListsTheKnownOnes) {
  try {
    MakeBackend("tpu");
    FAIL() << "there was a backend \"tpu\"";
  } catch (const c10::ValueError& e) {
    EXPECT_THAT(e.what(), HasSubstr("there is no backend \"tpu\"; there are: "
                                    "sp, ddp, zero1, zero2, fsdp, and each of "
                                    "them with -amp"));
  }
}

}  // namespace
}  // namespace trainyard
