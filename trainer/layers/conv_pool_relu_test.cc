#include "trainer/layers/conv_pool_relu.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "backends/autocast.h"
#include "tools/testing/error_of.h"
#include "trainer/layers/conv_pool_kernels.h"

namespace trainyard {
namespace {

using testing::HasSubstr;

using Block = std::function<at::Tensor(const at::Tensor&, const at::Tensor&,
                                       const at::Tensor&)>;

at::Tensor ThreeOperations(const at::Tensor& input, const at::Tensor& weight,
                           const at::Tensor& bias) {
  return at::max_pool2d(at::conv2d(input, weight, bias, 1, 1), 2).relu();
}

at::Tensor OnePass(const at::Tensor& input, const at::Tensor& weight,
                   const at::Tensor& bias) {
  return ConvPoolRelu(input, weight, bias);
}

// N, channels, height, width, filters.
struct Sizes {
  int64_t n, channels, height, width, filters;
};

const std::vector<Sizes> kSizes = {
    {1, 1, 2, 2, 1},   {2, 1, 28, 28, 16}, {3, 16, 14, 14, 32},
    {1, 2, 3, 5, 7},   {4, 3, 9, 8, 20},   {33, 4, 4, 4, 3},
    {2, 64, 7, 6, 64}, {2, 17, 6, 11, 33}, {70, 1, 5, 4, 5},
    {1, 5, 40, 37, 9}, {2, 50, 4, 4, 64},  {2, 3, 16, 16, 48},
};

// Input, weight, bias and gradient of small whole numbers: every order of
// summation gives the same, and many maxima are shared.
std::vector<at::Tensor> WholeNumbers(const Sizes& s) {
  at::manual_seed(static_cast<uint64_t>(s.channels * 1000 + s.height));
  const auto numbers = [](at::IntArrayRef sizes) {
    return at::randint(-2, 3, sizes, at::kFloat);
  };
  return {numbers({s.n, s.channels, s.height, s.width}),
          numbers({s.filters, s.channels, 3, 3}), numbers({s.filters}),
          numbers({s.n, s.filters, s.height / 2, s.width / 2})};
}

std::vector<at::Tensor> Normal(const Sizes& s) {
  at::manual_seed(static_cast<uint64_t>(s.channels + s.height));
  return {at::randn({s.n, s.channels, s.height, s.width}),
          at::randn({s.filters, s.channels, 3, 3}), at::randn({s.filters}),
          at::randn({s.n, s.filters, s.height / 2, s.width / 2})};
}

at::Tensor Leaf(const at::Tensor& tensor) {
  return tensor.detach().requires_grad_();
}

// Output and the gradients of input, weight and bias.
std::vector<at::Tensor> ResultsOf(const Block& block,
                                  const std::vector<at::Tensor>& with) {
  const at::Tensor input = Leaf(with[0]), weight = Leaf(with[1]),
                   bias = Leaf(with[2]);
  const at::Tensor output = block(input, weight, bias);
  output.backward(with[3]);
  return {output.detach(), input.grad(), weight.grad(), bias.grad()};
}

void ExpectEqual(const std::vector<at::Tensor>& found,
                 const std::vector<at::Tensor>& expected) {
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(found[i].sizes(), expected[i].sizes());
    EXPECT_TRUE(at::equal(found[i], expected[i])) << i;
  }
}

TEST(ConvPoolReluTest, EqualsThreeOperationsOnWholeNumbers) {
  for (const Sizes& sizes : kSizes) {
    SCOPED_TRACE(testing::Message()
                 << sizes.n << " " << sizes.channels << " " << sizes.height
                 << " " << sizes.width << " " << sizes.filters);
    const auto with = WholeNumbers(sizes);
    ExpectEqual(ResultsOf(OnePass, with), ResultsOf(ThreeOperations, with));
    const at::NoGradGuard no_gradients;
    EXPECT_TRUE(at::equal(OnePass(with[0], with[1], with[2]),
                          ThreeOperations(with[0], with[1], with[2])));
  }
}

TEST(ConvPoolReluTest, IsAsNearToExactAsRoundingAllows) {
  for (const Sizes& sizes : kSizes) {
    const auto with = Normal(sizes);
    std::vector<at::Tensor> exact;
    for (const at::Tensor& each : with) exact.push_back(each.to(at::kDouble));
    const auto found = ResultsOf(OnePass, with),
               expected = ResultsOf(ThreeOperations, exact);
    for (size_t i = 0; i < found.size(); ++i) {
      const double largest = expected[i].abs().max().item<double>();
      EXPECT_TRUE(at::allclose(found[i].to(at::kDouble), expected[i],
                               /*rtol=*/0, 2e-6 * largest))
          << i << " of " << sizes.channels << " channels";
    }
  }
}

TEST(ConvPoolReluTest, TakesAnyStrides) {
  const auto with = WholeNumbers({4, 6, 10, 12, 8});
  const auto expected = ResultsOf(ThreeOperations, with);
  const auto last = at::MemoryFormat::ChannelsLast;
  ExpectEqual(
      ResultsOf(OnePass, {with[0].contiguous(last), with[1].contiguous(last),
                          with[2], with[3].contiguous(last)}),
      expected);
  // Every second element of something larger, and rows before channels.
  const auto spread = [](const at::Tensor& t) {
    const at::Tensor wide =
        at::zeros({t.size(0), t.size(2), t.size(1), 2 * t.size(3)});
    const at::Tensor view = wide.transpose(1, 2).slice(3, 0, 2 * t.size(3), 2);
    view.copy_(t);
    return view;
  };
  ExpectEqual(ResultsOf(OnePass, {spread(with[0]), spread(with[1]), with[2],
                                  spread(with[3])}),
              expected);
  // One element in the place of all.
  std::vector<at::Tensor> ones = with;
  ones[0] = with[0].select(0, 0).unsqueeze(0).expand({4, -1, -1, -1});
  ones[3] = at::zeros({1}).add(1).expand({4, 8, 5, 6});
  ExpectEqual(ResultsOf(OnePass, ones), ResultsOf(ThreeOperations, ones));
}

TEST(ConvPoolReluTest, TakesNoBias) {
  const auto with = WholeNumbers({2, 3, 6, 6, 4});
  const at::Tensor input = Leaf(with[0]), weight = Leaf(with[1]);
  const at::Tensor output = ConvPoolRelu(input, weight);
  output.backward(with[3]);
  const auto expected =
      ResultsOf(ThreeOperations, {with[0], with[1], at::zeros({4}), with[3]});
  ExpectEqual({output.detach(), input.grad(), weight.grad()},
              {expected[0], expected[1], expected[2]});
}

TEST(ConvPoolReluTest, ComputesTheGradientsThatAreWanted) {
  for (const int64_t channels : {2, 8}) {
    const auto with = WholeNumbers({3, channels, 6, 6, 4});
    const auto expected = ResultsOf(ThreeOperations, with);
    for (int wanted = 0; wanted < 8; ++wanted) {
      std::vector<at::Tensor> leaves;
      for (size_t i = 0; i < 3; ++i) {
        leaves.push_back(
            with[i].detach().set_requires_grad(((wanted >> i) & 1) != 0));
      }
      const at::Tensor output = OnePass(leaves[0], leaves[1], leaves[2]);
      ASSERT_EQ(output.requires_grad(), wanted != 0);
      if (wanted != 0) output.backward(with[3]);
      for (size_t i = 0; i < 3; ++i) {
        ASSERT_EQ(leaves[i].grad().defined(), leaves[i].requires_grad());
        if (leaves[i].requires_grad()) {
          EXPECT_TRUE(at::equal(leaves[i].grad(), expected[i + 1]));
        }
      }
    }
  }
}

TEST(ConvPoolReluTest, HasTheSameBitsWithAnyNumberOfThreads) {
  const int before = at::get_num_threads();
  for (const Sizes& sizes : {Sizes{70, 1, 8, 8, 5}, Sizes{45, 16, 6, 6, 20}}) {
    const auto with = Normal(sizes);
    at::set_num_threads(1);
    const auto expected = ResultsOf(OnePass, with);
    for (const int threads : {2, 3}) {
      at::set_num_threads(threads);
      ExpectEqual(ResultsOf(OnePass, with), expected);
    }
  }
  at::set_num_threads(before);
}

TEST(ConvPoolReluTest, AddsUpOverPartsOfABatch) {
  const auto with = WholeNumbers({40, 5, 8, 8, 6});
  const auto whole = ResultsOf(OnePass, with);
  std::vector<at::Tensor> first = with, second = with;
  for (const size_t i : {size_t{0}, size_t{3}}) {
    first[i] = with[i].slice(0, 0, 7);
    second[i] = with[i].slice(0, 7);
  }
  const auto a = ResultsOf(OnePass, first), b = ResultsOf(OnePass, second);
  EXPECT_TRUE(at::equal(a[2].add(b[2]), whole[2]));
  EXPECT_TRUE(at::equal(a[3].add(b[3]), whole[3]));
}

TEST(ConvPoolReluTest, PassesOnWhatIsNotANumber) {
  const auto with = Normal({2, 3, 8, 8, 4});
  for (const double value : {std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity()}) {
    with[0].select(0, 1).select(0, 1).select(0, 3)[4] = value;
    const auto found = ResultsOf(OnePass, with);
    const auto expected = ResultsOf(ThreeOperations, with);
    EXPECT_TRUE(at::allclose(found[0], expected[0], 1e-5, 1e-5,
                             /*equal_nan=*/true));
    EXPECT_TRUE(found[2].isnan().any().item<bool>());
  }
}

TEST(ConvPoolReluTest, CanBeDifferentiatedTwice) {
  const auto with = Normal({2, 3, 6, 6, 4});
  const auto penalty = [&](const Block& block) {
    const at::Tensor input = Leaf(with[0]), weight = Leaf(with[1]),
                     bias = Leaf(with[2]);
    const at::Tensor output = block(input, weight, bias);
    output.square().sum().backward({}, /*retain_graph=*/true,
                                   /*create_graph=*/true);
    const at::Tensor grad = weight.grad();
    weight.mutable_grad() = at::Tensor();
    grad.square().sum().backward();
    return std::vector<at::Tensor>{output.detach(), input.grad().detach(),
                                   weight.grad().detach()};
  };
  const auto found = penalty(OnePass), expected = penalty(ThreeOperations);
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_TRUE(at::allclose(found[i], expected[i], 1e-4, 1e-4)) << i;
  }
}

TEST(ConvPoolReluTest, CallsTheOperationsForOtherTypes) {
  std::vector<at::Tensor> with = Normal({2, 3, 7, 6, 4});
  for (at::Tensor& each : with) each = each.to(at::kDouble);
  ExpectEqual(ResultsOf(OnePass, with), ResultsOf(ThreeOperations, with));
  const Autocast autocast(at::kCPU, at::kBFloat16);
  EXPECT_EQ(OnePass(with[0].to(at::kFloat), with[1].to(at::kFloat),
                    with[2].to(at::kFloat))
                .scalar_type(),
            at::kBFloat16);
}

TEST(ConvPoolReluTest, CallsTheOperationsForManyChannels) {
  const auto with = Normal({2, kConvPoolReluChannels + 1, 4, 4, 3});
  ExpectEqual(ResultsOf(OnePass, with), ResultsOf(ThreeOperations, with));
}

TEST(ConvPoolReluTest, TakesAnEmptyBatch) {
  const auto with = WholeNumbers({0, 3, 6, 6, 4});
  ExpectEqual(ResultsOf(OnePass, with), ResultsOf(ThreeOperations, with));
}

TEST(ConvPoolReluTest, RefusesSizesThatDoNotFit) {
  const auto refused = [](at::IntArrayRef input, at::IntArrayRef weight,
                          int64_t bias) {
    return ErrorOf<c10::Error>([&] {
      ConvPoolRelu(at::zeros(input), at::zeros(weight), at::zeros({bias}));
    });
  };
  EXPECT_THAT(refused({2, 3, 8, 8}, {4, 5, 3, 3}, 4), HasSubstr("channels"));
  EXPECT_THAT(refused({2, 3, 8, 8}, {4, 3, 3, 3}, 5), HasSubstr("bias"));
  EXPECT_THAT(refused({2, 3, 1, 8}, {4, 3, 3, 3}, 4), HasSubstr("too small"));
}

TEST(ConvPoolReluTest, ReturnsChannelsLast) {
  if (FastestConvPoolKernels() == nullptr) GTEST_SKIP();
  const auto with = WholeNumbers({2, 3, 8, 8, 4});
  EXPECT_TRUE(OnePass(with[0], with[1], with[2])
                  .is_contiguous(at::MemoryFormat::ChannelsLast));
}

}  // namespace
}  // namespace trainyard
