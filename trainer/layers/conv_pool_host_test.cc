#include "trainer/layers/conv_pool_host.h"

#include <ATen/ops/conv2d.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <gtest/gtest.h>

#include <vector>

#include "trainer/layers/conv_pool_kernels.h"

namespace trainyard {
namespace {

std::vector<const ConvPoolKernels*> AllKernels() {
  std::vector<const ConvPoolKernels*> all;
  for (const ConvPoolKernels* kernels :
       {Avx2ConvPoolKernels(), Avx512ConvPoolKernels()}) {
    if (kernels != nullptr) all.push_back(kernels);
  }
  return all;
}

at::Tensor WholeNumbers(at::IntArrayRef sizes) {
  return at::randint(-3, 4, sizes, at::kFloat);
}

TEST(ConvPoolHostTest, EveryVersionOfTheKernelsEqualsTheOperations) {
  if (AllKernels().empty()) GTEST_SKIP() << "this processor has no AVX2";
  for (const int64_t channels : {1, 3, 4, 16, 25}) {
    for (const int64_t filters : {1, 8, 24, 40}) {
      for (const int64_t width : {2, 5, 16}) {
        const at::Tensor input = WholeNumbers({3, channels, 7, width}),
                         weight = WholeNumbers({filters, channels, 3, 3}),
                         bias = WholeNumbers({filters}),
                         grad = WholeNumbers({3, filters, 3, width / 2});
        for (const at::Tensor& each : {input, weight, bias}) {
          each.requires_grad_();
          each.mutable_grad() = at::Tensor();
        }
        const at::Tensor expected =
            at::max_pool2d(at::conv2d(input, weight, bias, 1, 1), 2).relu();
        expected.backward(grad);
        for (const ConvPoolKernels* kernels : AllKernels()) {
          SCOPED_TRACE(testing::Message()
                       << channels << " channels, " << filters << " filters, "
                       << width << " wide, " << kernels->lanes << " lanes");
          const ConvPoolHost host(*kernels, input.detach(), weight.detach());
          const ConvPooled pooled =
              host.Forward(bias.detach(), /*for_gradients=*/true);
          EXPECT_TRUE(at::equal(pooled.output, expected));
          const ConvPoolGrads grads = host.Backward(pooled.chosen, grad, {});
          EXPECT_TRUE(at::equal(grads.input, input.grad()));
          EXPECT_TRUE(at::equal(grads.weight, weight.grad()));
          EXPECT_TRUE(at::equal(grads.bias, bias.grad()));
        }
      }
    }
  }
}

TEST(ConvPoolHostTest, LeavesOutWhatIsNotWanted) {
  if (AllKernels().empty()) GTEST_SKIP() << "this processor has no AVX2";
  const at::Tensor input = WholeNumbers({2, 4, 6, 6});
  const ConvPoolHost host(*AllKernels()[0], input, WholeNumbers({5, 4, 3, 3}));
  EXPECT_FALSE(host.Forward({}, /*for_gradients=*/false).chosen.defined());
  const ConvPooled pooled = host.Forward({}, /*for_gradients=*/true);
  const ConvPoolGrads grads =
      host.Backward(pooled.chosen, WholeNumbers({2, 5, 3, 3}),
                    {.input = false, .weight = false});
  EXPECT_FALSE(grads.input.defined());
  EXPECT_FALSE(grads.weight.defined());
  EXPECT_TRUE(grads.bias.defined());
}

TEST(ConvPoolHostTest, TheProcessorRunsTheFastestKernels) {
  const ConvPoolKernels* const kernels = FastestConvPoolKernels();
  if (kernels == nullptr) GTEST_SKIP() << "libtorch uses no AVX2 here";
  EXPECT_TRUE(kernels == Avx2ConvPoolKernels() ||
              kernels == Avx512ConvPoolKernels());
}

TEST(ConvPoolHostTest, Example) {
  if (FastestConvPoolKernels() == nullptr) GTEST_SKIP();
  const at::Tensor input = at::ones({1, 1, 2, 2}),
                   weight = at::ones({1, 1, 3, 3}), bias = at::ones({1}),
                   grad = at::ones({1, 1, 1, 1});
  const ConvPoolWanted wanted;
  const ConvPoolHost host(*FastestConvPoolKernels(), input, weight);
  const ConvPooled pooled = host.Forward(bias, /*for_gradients=*/true);
  const ConvPoolGrads grads = host.Backward(pooled.chosen, grad, wanted);
  EXPECT_EQ(pooled.output.item<float>(), 5);
  // The first element of the window is chosen, whose last four inputs are not
  // padding.
  EXPECT_TRUE(at::equal(grads.input, input));
  EXPECT_EQ(grads.weight.sum().item<float>(), 4);
  EXPECT_EQ(grads.bias.item<float>(), 1);
}

}  // namespace
}  // namespace trainyard
