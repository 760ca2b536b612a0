#include "backends/ddp.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "backends/amp.h"
#include "backends/single_process.h"
#include "backends/testing/backend_conformance.h"
#include "backends/testing/rank_group.h"
#include "tools/launch/testing/test_rank.h"
#include "tools/testing/error_of.h"
#include "trainer/optim/sgd.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Compression = ReducerOptions::Compression;

at::Device Device() { return at::Device(TestDevice()); }

std::unique_ptr<Backend> MakeDdp(const ReducerOptions& options = {}) {
  return MakeDdpBackend(RankGroup(), MakeSingleProcessBackend(Device()),
                        {.reducer = options});
}

// All ranks make the same calls.
INSTANTIATE_TEST_SUITE_P(
    OverTwoRanks, BackendConformanceTest,
    ::testing::Values(
        BackendCase{"ddp", [] { return MakeDdp(); }},
        BackendCase{"ddp_static",
                    [] { return MakeDdp({.static_graph = true}); }},
        BackendCase{"ddp_unused",
                    [] { return MakeDdp({.find_unused_parameters = true}); }},
        BackendCase{
            "ddp_amp",
            [] { return MakeAmpBackend(MakeDdp(), {.dtype = at::kBFloat16}); }},
        BackendCase{
            "ddp_amp_fp16",
            [] { return MakeAmpBackend(MakeDdp(), {.dtype = at::kHalf}); }}),
    BackendCaseName);

at::Tensor Param(double value) {
  return at::full({2}, value, Device()).requires_grad_();
}

double First(const at::Tensor& tensor) { return tensor[0].item<double>(); }

// Of rank 0: 1, of rank 1: 2, …; their mean over two ranks is 1.5.
double Own(const Backend& backend) {
  return static_cast<double>(backend.rank() + 1);
}

TEST(DdpTest, CopiesParametersAndBuffersOfRankZero) {
  const auto backend = MakeDdp();
  const at::Tensor w = Param(Own(*backend));
  const at::Tensor frozen = at::full({3}, Own(*backend), Device());
  at::Tensor buffer = at::full({}, Own(*backend), Device());
  backend->Prepare({{"net", {{"w", w}, {"frozen", frozen}}, {{"b", buffer}}}});
  EXPECT_EQ(First(w), 1);
  EXPECT_EQ(First(frozen), 1);
  EXPECT_EQ(buffer.item<double>(), 1);
  buffer.fill_(Own(*backend));
  backend->EndWindow();
  EXPECT_EQ(buffer.item<double>(), 1);
}

TEST(DdpTest, GradientsAreTheMeanOnlyAtTheEndOfAWindow) {
  for (const Compression compression :
       {Compression::kNone, Compression::kFp16, Compression::kBf16}) {
    const auto backend = MakeDdp({.compression = compression});
    const at::Tensor w = Param(1);
    SGD sgd({w}, {.lr = 1});
    backend->Prepare({{"net", {{"w", w}}}});
    for (int window = 0; window < 3; ++window) {
      backend->Backward(w.sum().mul(Own(*backend)), {.sync = false});
      EXPECT_EQ(First(w.grad()), Own(*backend));
      backend->Backward(w.sum().mul(2), {});
      EXPECT_EQ(First(w.grad()), 3.5);
      sgd.ZeroGrad();
    }
  }
}

TEST(DdpTest, RejectsModelsThatDifferByName) {
  const auto backend = MakeDdp();
  const bool odd = backend->rank() == 1;
  EXPECT_THAT(
      ErrorOf<c10::Error>([&] {
        backend->Prepare(
            {{"net",
              {{"a", Param(1)}, {"b", at::ones({odd ? 3 : 2}, Device())}}}});
      }),
      AllOf(HasSubstr("rank 0: net.b: parameter Float [2]"),
            HasSubstr("rank 1: net.b: parameter Float [3]")));
  EXPECT_THAT(ErrorOf<c10::Error>([&] {
                ModelTensors model{"net", {{"a", Param(1)}}};
                if (odd)
                  model.buffers.push_back({"mean", at::ones({1}, Device())});
                backend->Prepare({model});
              }),
              AllOf(HasSubstr("rank 0: no more tensors"),
                    HasSubstr("rank 1: net.mean: buffer")));
}

TEST(DdpTest, RejectsAnOptimizerOfAnUnknownParameter) {
  const auto backend = MakeDdp();
  const at::Tensor w = Param(1);
  backend->Prepare({{"net", {{"w", w}}}});
  SGD stranger({at::ones({7}, Device()).requires_grad_()}, {.lr = 1});
  backend->Backward(w.sum(), {});
  EXPECT_THAT(ErrorOf<c10::Error>([&] { backend->FinishGradients(stranger); }),
              HasSubstr("shape [7]"));
}

// Rank 1 uses only `a`; nobody uses `never`.
TEST(DdpTest, ParametersMayBeUnusedIfAskedFor) {
  const at::Tensor a = Param(1);
  const at::Tensor b = Param(1);
  const at::Tensor never = Param(1);
  const ModelTensors model{"net", {{"a", a}, {"b", b}, {"never", never}}};
  const auto loss = [&](const Backend& backend) {
    return backend.rank() == 0 ? a.sum().add(b.sum(), 4) : a.sum();
  };
  {
    const auto strict = MakeDdp();
    strict->Prepare({model});
    EXPECT_THAT(
        ErrorOf<c10::Error>([&] { strict->Backward(loss(*strict), {}); }),
        HasSubstr("finished reduction"));
  }
  a.mutable_grad().reset();
  b.mutable_grad().reset();
  never.mutable_grad().reset();
  const auto backend = MakeDdp({.find_unused_parameters = true});
  backend->Prepare({model});
  for (int step = 0; step < 2; ++step) {
    backend->Backward(loss(*backend), {});
    EXPECT_EQ(First(a.grad()), 1);
    EXPECT_EQ(First(b.grad()), 2);
    EXPECT_FALSE(never.grad().defined());
    for (const at::Tensor& each : {a, b}) each.mutable_grad().reset();
  }
}

TEST(DdpTest, AStaticGraphMayLeaveParametersUnused) {
  const auto backend = MakeDdp({.static_graph = true});
  const at::Tensor a = Param(1);
  const at::Tensor never = Param(1);
  backend->Prepare({{"net", {{"a", a}, {"never", never}}}});
  for (int step = 0; step < 4; ++step) {
    backend->Backward(a.sum().mul(Own(*backend)), {});
    EXPECT_EQ(First(a.grad()), 1.5) << step;
    a.mutable_grad().reset();
    never.mutable_grad().reset();
  }
}

// As a GAN does: the second loss reaches both models, the first only one.
TEST(DdpTest, TrainsSeveralModels) {
  const auto backend = MakeDdp();
  const at::Tensor g = Param(1);
  const at::Tensor d = Param(1);
  SGD g_sgd({g}, {.lr = 1});
  SGD d_sgd({d}, {.lr = 1});
  backend->Prepare({{"g", {{"w", g}}}, {"d", {{"w", d}}}});
  for (int step = 0; step < 3; ++step) {
    g_sgd.ZeroGrad();
    d_sgd.ZeroGrad();
    backend->Backward(d.sum().mul(Own(*backend)), {.weight = Own(*backend)});
    EXPECT_EQ(backend->FinishGradients(d_sgd), 1.5);
    EXPECT_EQ(First(d.grad()), 1.5);
    EXPECT_FALSE(g.grad().defined());
    backend->Backward(g.sum().add(d.sum()).mul(Own(*backend)), {});
    EXPECT_EQ(First(g.grad()), 1.5);
    EXPECT_EQ(First(d.grad()), 3);
  }
}

TEST(DdpTest, FollowsChangesOfRequiresGrad) {
  const auto backend = MakeDdp();
  const at::Tensor head = Param(1);
  at::Tensor body = Param(1);
  body.requires_grad_(false);
  backend->Prepare({{"net", {{"body", body}, {"head", head}}}});
  for (const bool trained : {false, true, false}) {
    body.requires_grad_(trained);
    backend->Backward(head.mul(body).sum().mul(Own(*backend)), {});
    EXPECT_EQ(First(head.grad()), 1.5);
    EXPECT_EQ(body.grad().defined() ? First(body.grad()) : 0,
              trained ? 1.5 : 0);
    head.mutable_grad().reset();
    body.mutable_grad().reset();
  }
}

// Each parameter is a bucket of its own; rank 1 computes them in the other
// order.
TEST(DdpTest, BucketsMayBecomeReadyInAnyOrder) {
  const auto backend = MakeDdp({.bucket_bytes = 1, .first_bucket_bytes = 1});
  const at::Tensor a = Param(1);
  const at::Tensor b = Param(1);
  backend->Prepare({{"net", {{"a", a}, {"b", b}}}});
  const double own = Own(*backend);
  for (int step = 0; step < 20; ++step) {
    const at::Tensor first = a.mul(own).sum();
    const at::Tensor second = b.mul(10 * own).sum();
    backend->Backward(
        backend->rank() == 0 ? first.add(second) : second.add(first), {});
    EXPECT_EQ(First(a.grad()), 1.5);
    EXPECT_EQ(First(b.grad()), 15);
    a.mutable_grad().reset();
    b.mutable_grad().reset();
  }
}

// As many elements as are split unevenly among ranks and blocks.
TEST(DdpTest, EveryElementIsTheMeanToTheBit) {
  const auto backend = MakeDdp();
  at::Tensor large = at::ones({3, 1237}, Device()).requires_grad_();
  at::Tensor small = at::ones({5}, Device()).requires_grad_();
  backend->Prepare({{"net", {{"large", large}, {"small", small}}}});
  const auto factors = [&](const at::Tensor& like, double rank) {
    return at::arange(like.numel(), like.options().requires_grad(false))
        .reshape(like.sizes())
        .div(7)
        .add(rank);
  };
  const double rank = static_cast<double>(backend->rank());
  backend->Backward(large.mul(factors(large, rank))
                        .sum()
                        .add(small.mul(factors(small, rank)).sum()),
                    {});
  for (const at::Tensor& each : {large, small}) {
    EXPECT_TRUE(at::equal(each.grad(),
                          factors(each, 0).add(factors(each, 1)).mul(0.5)));
  }
}

// A step that overflows on one rank is skipped on all ranks.
TEST(DdpTest, RanksSkipAStepTogether) {
  const auto backend = MakeAmpBackend(MakeDdp(), {.dtype = at::kHalf});
  const at::Tensor w = Param(1);
  SGD sgd({w}, {.lr = 1});
  backend->Prepare({{"net", {{"w", w}}}});
  const double factor =
      backend->rank() == 1 ? std::numeric_limits<double>::infinity() : 1;
  backend->Backward(w.sum().mul(factor), {});
  backend->FinishGradients(sgd);
  const bool updated = backend->Update(sgd, {});
  sgd.ZeroGrad();
  backend->EndWindow();
  EXPECT_FALSE(backend->outcome_is_open(sgd) ? backend->ReadOutcome(sgd)
                                             : updated);
  EXPECT_EQ(backend->SaveState().Get<double>("scale"), 32768);
  EXPECT_EQ(First(w), 1);
}

}  // namespace
}  // namespace trainyard
