// Includes torch::nn: SyncBatchNorm is such a module, and takes the place of
// others in the modules of a user.
#include "backends/sync_batch_norm.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>

#include "backends/ddp.h"
#include "backends/processes/group_collectives.h"
#include "backends/single_process.h"
#include "backends/testing/rank_group.h"
#include "tools/launch/testing/test_rank.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

at::Device Device() { return at::Device(TestDevice()); }

// Rank r has these rows of the whole batch: unequal parts.
at::Tensor OwnRows(const at::Tensor& whole, const Collectives& all) {
  const int64_t first = whole.size(0) / 3;
  return all.rank() == 0 ? whole.narrow(0, 0, first)
                         : whole.narrow(0, first, whole.size(0) - first);
}

void ExpectClose(const at::Tensor& actual, const at::Tensor& expected) {
  EXPECT_TRUE(at::allclose(actual, expected, 1e-9, 1e-10))
      << actual << " instead of " << expected;
}

// Forward, backward and running statistics, of each kind of input, beside
// libtorch's own BatchNorm over the whole batch.
template <class BatchNorm>
void CompareWithWholeBatch(Collectives& all, at::IntArrayRef sizes) {
  at::manual_seed(3);  // the same data on all ranks
  // Far from zero: sums of squares would lose what matters.
  const auto options = at::device(Device()).dtype(at::kDouble);
  const at::Tensor whole =
      (at::randn(sizes, options) * 3 + 100).requires_grad_();
  const at::Tensor direction = at::randn(sizes, options);
  BatchNorm plain(4);
  SyncBatchNorm sync(4);
  plain->to(Device(), at::kDouble);
  sync->to(Device(), at::kDouble);
  sync->Use(&all);
  const at::Tensor expected = plain->forward(whole);
  (expected * direction).sum().backward();
  const at::Tensor own = OwnRows(whole.detach(), all).clone().requires_grad_();
  const at::Tensor actual = sync->forward(own);
  (actual * OwnRows(direction, all)).sum().backward();

  ExpectClose(actual, OwnRows(expected, all));
  ExpectClose(own.grad(), OwnRows(whole.grad(), all));
  // Summed by ddp.
  at::Tensor weight_gradient = sync->parameters()[0].grad().clone();
  all.AllReduce(weight_gradient, ReduceOp::kSum);
  ExpectClose(weight_gradient, plain->weight.grad());
  for (const auto& buffer : plain->named_buffers()) {
    ExpectClose(*sync->named_buffers().find(buffer.key()), buffer.value());
  }
  plain->eval();
  sync->eval();
  ExpectClose(sync->forward(own), plain->forward(own));
}

TEST(SyncBatchNormTest, TrainsLikeOneLargeBatch) {
  const auto all = MakeGroupCollectives(*RankGroup());
  CompareWithWholeBatch<torch::nn::BatchNorm1d>(*all, {9, 4});
  CompareWithWholeBatch<torch::nn::BatchNorm2d>(*all, {6, 4, 5, 3});
  CompareWithWholeBatch<torch::nn::BatchNorm3d>(*all, {6, 4, 2, 2, 3});
}

// Half precision is normalised in single, so that only what goes in and comes
// out is rounded; libtorch's own does the same.
TEST(SyncBatchNormTest, TrainsInSingleAndHalfPrecision) {
  const auto all = MakeGroupCollectives(*RankGroup());
  for (const auto& [type, tolerance] :
       {std::pair(at::kFloat, 1e-5), std::pair(at::kBFloat16, 1e-2)}) {
    at::manual_seed(3);
    // More values per channel than bfloat16 or half can count one by one.
    const at::Tensor whole = (at::randn({30, 4, 20, 20}, Device()) * 2 + 1)
                                 .to(type)
                                 .requires_grad_();
    const at::Tensor direction = at::randn(whole.sizes(), Device()).to(type);
    torch::nn::BatchNorm2d plain(4);
    SyncBatchNorm sync(4);
    plain->to(Device());
    sync->to(Device());
    sync->Use(all.get());
    const at::Tensor expected = plain->forward(whole);
    (expected * direction).sum().backward();
    const at::Tensor own =
        OwnRows(whole.detach(), *all).clone().requires_grad_();
    const at::Tensor actual = sync->forward(own);
    (actual * OwnRows(direction, *all)).sum().backward();
    EXPECT_EQ(actual.scalar_type(), type);
    EXPECT_EQ(own.grad().scalar_type(), type);
    EXPECT_TRUE(
        at::allclose(actual, OwnRows(expected, *all), tolerance, tolerance));
    EXPECT_TRUE(at::allclose(own.grad(), OwnRows(whole.grad(), *all), tolerance,
                             tolerance));
    for (const auto& buffer : plain->named_buffers()) {
      EXPECT_TRUE(at::allclose(*sync->named_buffers().find(buffer.key()),
                               buffer.value(), 1e-5, 1e-5))
          << buffer.key();
    }
  }
}

TEST(SyncBatchNormTest, OneRankIsABatchNorm) {
  const auto alone = MakeLocalCollectives();
  at::manual_seed(3);
  const at::Tensor input = at::randn({8, 4});
  torch::nn::BatchNorm1d plain(4);
  SyncBatchNorm sync(4);
  for (Collectives* each : {static_cast<Collectives*>(nullptr), alone.get()}) {
    sync->Use(each);
    EXPECT_TRUE(at::equal(sync->forward(input), plain->forward(input)));
  }
  EXPECT_THROW(sync->forward(at::randn({8, 5})), c10::ValueError);
}

struct BlockImpl : torch::nn::Module {
  at::Tensor forward(const at::Tensor& input) { return inner->forward(input); }
  torch::nn::Sequential inner{register_module(
      "inner", torch::nn::Sequential(torch::nn::BatchNorm1d(4)))};
};
TORCH_MODULE(Block);

TEST(SyncBatchNormTest, ReplacesBatchNormsOfASequential) {
  const auto alone = MakeLocalCollectives();
  Block block;
  torch::nn::Sequential model(torch::nn::Linear(3, 4),
                              torch::nn::BatchNorm1d(4), block);
  const at::Tensor input = at::randn({5, 3});
  const std::vector<at::Tensor> before = model->parameters();
  UseSyncBatchNorm(*model, *alone);
  const std::vector<at::Tensor> after = model->parameters();
  ASSERT_EQ(after.size(), before.size());
  for (size_t i = 0; i < after.size(); ++i) {
    EXPECT_TRUE(after[i].is_same(before[i]));
  }
  EXPECT_THAT(model->children()[1]->name(), HasSubstr("SyncBatchNorm"));
  EXPECT_THAT(block->inner->children()[0]->name(), HasSubstr("SyncBatchNorm"));
  model->forward(input).sum().backward();  // the new ones are called
  EXPECT_EQ(model->named_buffers()["1.num_batches_tracked"].item<int64_t>(), 1);
}

struct OwnerImpl : torch::nn::Module {
  torch::nn::BatchNorm1d norm{
      register_module("norm", torch::nn::BatchNorm1d(4))};
};
TORCH_MODULE(Owner);

struct NetImpl : torch::nn::Module {
  SyncBatchNorm norm{register_module("norm", SyncBatchNorm(64))};
  at::Tensor forward(const at::Tensor& input) { return norm->forward(input); }
};
TORCH_MODULE(Net);

TEST(SyncBatchNormTest, HeaderExample) {
  const auto backend =
      MakeDdpBackend(RankGroup(), MakeSingleProcessBackend(at::kCPU));
  Net net;
  UseSyncBatchNorm(*net, backend->collectives());
  // 0 on one rank, 1 on the other: normalised to -1 and 1.
  const at::Tensor input =
      at::ones({3, 64}) * static_cast<double>(backend->rank());
  const double sign = backend->rank() == 0 ? -1 : 1;
  EXPECT_TRUE(
      at::allclose(net->forward(input), at::ones({3, 64}) * sign, 1e-3, 1e-3));
}

TEST(SyncBatchNormTest, NamesBatchNormsItCannotReplace) {
  const auto alone = MakeLocalCollectives();
  torch::nn::Sequential model;
  model->push_back(torch::nn::BatchNorm1d(4));
  model->register_module("owner", Owner());
  try {
    UseSyncBatchNorm(*model, *alone);
    FAIL() << "replaced a member";
  } catch (const c10::ValueError& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr("owner.norm"),
                                HasSubstr("trainyard::SyncBatchNorm")));
  }
  EXPECT_THAT(model->children()[0]->name(), HasSubstr("BatchNorm1d"));
}

}  // namespace
}  // namespace trainyard
