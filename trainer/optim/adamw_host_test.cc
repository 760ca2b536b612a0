#include "trainer/optim/adamw_host.h"

#include <ATen/Context.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

struct Tensors {
  explicit Tensors(int64_t size)
      : param(at::randn({size})),
        mean(at::zeros({size})),
        square(at::zeros({size})) {}
  at::Tensor param, mean, square;
};

void ExpectSameAsAten(int64_t size, double beta1) {
  at::manual_seed(size);
  const Tensors ours(size), theirs(size);
  theirs.param.copy_(ours.param);
  const at::Tensor counter = at::zeros({}), divisor = at::full({}, 3.7F);
  for (int update = 1; update <= 20; ++update) {
    const at::Tensor grad = at::randn({size}), before = grad.clone();
    UpdateAdamWOnHost(ours.param, grad, ours.mean, ours.square,
                      {.lr = 0.01,
                       .beta1 = beta1,
                       .beta2 = 0.99,
                       .eps = 1e-6,
                       .weight_decay = 0.1,
                       .step = static_cast<double>(update),
                       .divisor = 3.7F});
    EXPECT_TRUE(at::equal(grad, before)) << "wrote to a gradient";
    counter.fill_(update);
    at::_fused_adamw_({theirs.param}, {grad}, {theirs.mean}, {theirs.square},
                      {}, {counter}, 0.01, beta1, 0.99, 0.1, 1e-6, false, false,
                      divisor);
  }
  EXPECT_TRUE(at::allclose(ours.param, theirs.param, 1e-6, 1e-7)) << size;
  EXPECT_TRUE(at::allclose(ours.mean, theirs.mean, 1e-6, 1e-7)) << size;
  EXPECT_TRUE(at::allclose(ours.square, theirs.square, 1e-6, 1e-7)) << size;
}

TEST(AdamWHostTest, HeaderExample) {
  const at::Tensor param = at::ones({3}), grad = at::ones({3});
  const at::Tensor exp_avg = at::zeros({3}), exp_avg_sq = at::zeros({3});
  const std::vector<at::Tensor> params = {param};
  const AdamWHostStep step = {
      .lr = 0.5, .beta1 = 0.9, .beta2 = 0.999, .divisor = 8};
  if (!CanUpdateAdamWOnHost(params)) GTEST_SKIP() << "no AVX2 here";
  if (CanUpdateAdamWOnHost(params)) {
    UpdateAdamWOnHost(param, grad, exp_avg, exp_avg_sq, step);
  }
  // The length of the first step is lr for any gradient.
  EXPECT_TRUE(at::allclose(param, at::full({3}, 0.5F)));
}

TEST(AdamWHostTest, SameAsAtenInAnySize) {
  if (!CanUpdateAdamWOnHost({at::ones({1})})) GTEST_SKIP() << "no AVX2 here";
  for (const int64_t size : {1, 7, 8, 9, 16, 17, 1003}) {
    ExpectSameAsAten(size, 0.9);
    ExpectSameAsAten(size, 0.3);  // interpolates from the other end
  }
}

TEST(AdamWHostTest, AutogradSeesTheUpdate) {
  if (!CanUpdateAdamWOnHost({at::ones({1})})) GTEST_SKIP() << "no AVX2 here";
  Tensors tensors(3);
  tensors.param.requires_grad_();
  const at::Tensor loss = tensors.param.mul(tensors.param).sum();
  UpdateAdamWOnHost(tensors.param, at::ones({3}), tensors.mean, tensors.square,
                    {.lr = 0.5, .beta1 = 0.9, .beta2 = 0.999, .divisor = 1});
  EXPECT_THROW(loss.backward(), c10::Error);
}

TEST(AdamWHostTest, RejectsOtherTypesThanFloat) {
  EXPECT_FALSE(CanUpdateAdamWOnHost({at::ones({3}, at::kDouble)}));
  EXPECT_FALSE(CanUpdateAdamWOnHost({at::ones({3}, at::kBFloat16)}));
}

}  // namespace
}  // namespace trainyard
