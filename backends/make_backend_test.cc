#include "backends/make_backend.h"

#include <ATen/ops/ones.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
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

// Each process would train its own model.
TEST(MakeBackendTest, RejectsSpUnderALauncherOfSeveralRanks) {
  const auto message_of = [](const char* name) -> std::string {
    try {
      MakeBackend(name);
    } catch (const c10::ValueError& e) {
      return e.what_without_backtrace();
    }
    return "";
  };
  const std::vector<std::pair<const char*, const char*>> launchers = {
      {"RANK", "WORLD_SIZE"}, {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}};
  for (const auto& [rank, size] : launchers) {
    ASSERT_EQ(setenv(rank, "0", 1), 0);
    ASSERT_EQ(setenv(size, "2", 1), 0);
    const std::string sp = message_of("sp"), amp = message_of("sp-amp");
    ASSERT_EQ(setenv(size, "1", 1), 0);
    const std::string one = message_of("sp");
    ASSERT_EQ(unsetenv(size), 0);
    ASSERT_EQ(unsetenv(rank), 0);
    EXPECT_THAT(sp, HasSubstr("use \"ddp\"")) << size;
    EXPECT_THAT(amp, HasSubstr("use \"ddp-amp\"")) << size;
    EXPECT_EQ(one, "") << size;
  }
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
