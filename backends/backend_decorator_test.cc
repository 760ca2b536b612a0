#include "backends/backend_decorator.h"

#include <ATen/ops/ones.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <memory>

#include "backends/amp.h"
#include "backends/make_backend.h"
#include "backends/single_process.h"
#include "backends/testing/backend_conformance.h"
#include "trainer/optim/sgd.h"

namespace trainyard {
namespace {

// The header's example: a decorator of a user.
class CountingBackend final : public BackendDecorator {
 public:
  using BackendDecorator::BackendDecorator;
  bool Update(Optimizer& optimizer, const UpdateOptions& options) override {
    ++updates;
    return BackendDecorator::Update(optimizer, options);
  }
  int updates = 0;
};

INSTANTIATE_TEST_SUITE_P(
    Decorated, BackendConformanceTest,
    ::testing::Values(BackendCase{"sp",
                                  [] {
                                    return std::make_unique<CountingBackend>(
                                        MakeSingleProcessBackend(at::kCPU));
                                  }},
                      BackendCase{"amp_around_it",
                                  [] {
                                    return MakeAmpBackend(
                                        std::make_unique<CountingBackend>(
                                            MakeSingleProcessBackend(at::kCPU)),
                                        {.dtype = at::kHalf});
                                  }},
                      BackendCase{"around_amp",
                                  [] {
                                    return std::make_unique<CountingBackend>(
                                        MakeAmpBackend(
                                            MakeSingleProcessBackend(at::kCPU),
                                            {.dtype = at::kHalf}));
                                  }}),
    BackendCaseName);

TEST(BackendDecoratorTest, HeaderExample) {
  CountingBackend backend(MakeBackend("sp"));
  const at::Tensor w = at::ones({1}).requires_grad_();
  SGD sgd({w}, {.lr = 0.5});
  backend.Prepare({{"net", {{"w", w}}}});
  for (int update = 1; update <= 3; ++update) {
    backend.Backward(w.sum(), {});
    backend.FinishGradients(sgd);
    EXPECT_TRUE(backend.Update(sgd, {}));
    EXPECT_EQ(backend.updates, update);
    sgd.ZeroGrad();
    backend.EndWindow();
  }
  EXPECT_EQ(w.item<float>(), -0.5);
  EXPECT_EQ(backend.name(), "sp");
}

TEST(BackendDecoratorTest, RejectsNoBackend) {
  EXPECT_THROW(CountingBackend(nullptr), c10::ValueError);
}

}  // namespace
}  // namespace trainyard
