// The examples of headers whose calls need several ranks, which are threads
// here.
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "backends/processes/process_group.h"
#include "backends/processes/run_ranks.h"
#include "backends/sharded/fsdp.h"
#include "backends/sharded/parameter_storage.h"
#include "backends/sharded/shard_layout.h"
#include "backends/sharded/shard_reducer.h"
#include "backends/sharded/shard_unit.h"
#include "backends/sharded/sharded_backend.h"
#include "backends/sharded/slice_exchange.h"
#include "backends/sharded/slice_gatherer.h"
#include "backends/sharded/unit_schedule.h"
#include "backends/sharded/zero.h"
#include "backends/single_process.h"
#include "backends/whole_parameters.h"
#include "trainer/model/tensor_slice.h"
#include "trainer/optim/sgd.h"

namespace trainyard {
namespace {

template <class Function>
void WithTwoRanks(const Function& function) {
  RunRanks(2, [&](const Rendezvous& rendezvous) {
    function(std::make_shared<ProcessGroup>(
        ProcessGroupOptions{.rendezvous = rendezvous}));
  });
}

// A parameter of 32 elements, 16 for each of two ranks.
struct Sliced {
  explicit Sliced(int64_t rank)
      : weight(at::ones({32}).requires_grad_()),
        slices({{weight, SliceOf(weight.detach(), rank * 16, 16), rank * 16}}) {
  }
  at::Tensor weight;
  std::vector<ParamSlice> slices;
};

TEST(HeaderExamplesTest, SliceExchange) {
  WithTwoRanks([](const std::shared_ptr<ProcessGroup>& shared) {
    ProcessGroup& group = *shared;
    const at::Tensor buffer = at::arange(4).reshape({2, 2}).to(at::kFloat);
    SliceExchange exchange(group);
    std::unique_ptr<SliceExchange::Pending> sum = exchange.StartSum(buffer);
    const at::Tensor mine = sum->Wait();
    EXPECT_TRUE(mine.equal(buffer[exchange.rank()].mul(2)));
  });
}

TEST(HeaderExamplesTest, ShardReducerAndSliceGatherer) {
  WithTwoRanks([](const std::shared_ptr<ProcessGroup>& group) {
    SliceExchange exchange(*group);
    const Sliced sliced(exchange.rank());
    const std::vector<ParamSlice>& slices = sliced.slices;
    SGD optimizer({sliced.weight}, {.lr = 1});
    optimizer.UseSlices(slices);
    const at::Tensor loss = sliced.weight.sum();
    ShardReducer reducer(exchange, slices, {});
    reducer.BeforeBackward();  // for the last batch of a window only
    loss.backward();
    reducer.AfterBackward();  // slices have gradients, parameters have none
    EXPECT_FALSE(sliced.weight.grad().defined());
    EXPECT_TRUE(slices[0].slice.grad().equal(at::ones({16})));

    SliceGatherer gatherer(exchange, slices, /*bucket_bytes=*/25 << 20);
    optimizer.step();
    gatherer.Gather();
    EXPECT_TRUE(at::equal(sliced.weight, at::full({32}, 0.0F)));
  });
}

TEST(HeaderExamplesTest, ShardUnit) {
  WithTwoRanks([](const std::shared_ptr<ProcessGroup>& group) {
    SliceExchange exchange(*group);
    const int64_t begin = exchange.rank() * 16;
    const at::Tensor weight = at::ones({32}).requires_grad_();
    const std::vector<ParamSlice> slices = {
        {weight, SliceOf(weight.detach(), begin, 16).clone(), begin}};
    ShardUnit unit("layers.0", exchange, slices, /*bucket_bytes=*/25 << 20);
    unit.Release();  // parameters have no memory
    EXPECT_EQ(StorageBytes(weight), 0);
    unit.Start();   // in the background
    unit.Gather();  // they are whole
    EXPECT_TRUE(at::equal(weight, at::ones({32})));
  });
}

TEST(HeaderExamplesTest, UnitSchedule) {
  WithTwoRanks([](const std::shared_ptr<ProcessGroup>& shared) {
    ProcessGroup& group = *shared;
    SliceExchange exchange(group);
    const int64_t begin = exchange.rank() * 16;
    const at::Tensor weight = at::ones({32}).requires_grad_();
    const ParamSlice slice = {
        weight, SliceOf(weight.detach(), begin, 16).clone(), begin};
    const auto find_slice = [&](const at::Tensor&) { return &slice; };
    const auto unit = std::make_shared<ModelUnit>();
    const std::vector<ModelTensors> models = {
        {"net", {{"weight", weight}}, {}, {{"layer", unit, {weight}}}}};
    const UnitScheduleOptions options;
    const auto units = std::make_shared<UnitSchedule>(group, exchange, options);
    units->Use(models, find_slice);
    units->StartForward();
    at::Tensor loss = unit->Run(at::ones({1}), [&](const at::Tensor& x) {
      return weight.square().sum().mul(x).sum();
    });
    units->EndForward();
    EXPECT_EQ(StorageBytes(weight), 0);
    units->StartBackward(/*sync=*/true);
    loss.backward();
    units->EndBackward();
    EXPECT_TRUE(at::equal(weight.grad(), at::full({32}, 2.0F)));
    EXPECT_EQ(StorageBytes(weight), 0);
  });
}

TEST(HeaderExamplesTest, Fsdp) {
  WithTwoRanks([](const std::shared_ptr<ProcessGroup>& group) {
    const at::Tensor weight = at::ones({32}).requires_grad_();
    const std::vector<ModelTensors> models = {{"net", {{"weight", weight}}}};
    SGD optimizer({weight}, {.lr = 1});
    at::Tensor loss;
    auto backend = MakeFsdpBackend(group, MakeSingleProcessBackend(at::kCPU));
    backend->Prepare(models);
    backend->PrepareOptimizer(optimizer);
    backend->Forward([&] { loss = weight.sum(); });  // collective here
    backend->Backward(loss, {});
    backend->FinishGradients(optimizer);
    backend->Update(optimizer, {});
    EXPECT_EQ(backend->name(), "fsdp");
    const WholeParameters whole(*backend);
    EXPECT_EQ(weight.sum().item<double>(), 0);
  });
}

void Evaluate(const at::Tensor& weight) {
  EXPECT_TRUE(at::equal(weight, at::ones({32})));
}

TEST(HeaderExamplesTest, Zero) {
  WithTwoRanks([](const std::shared_ptr<ProcessGroup>& group) {
    const at::Tensor weight = at::ones({32}).requires_grad_();
    const at::Tensor* const model = &weight;
    const std::vector<ModelTensors> models = {{"net", {{"weight", weight}}}};
    SGD optimizer({weight}, {.lr = 1});
    auto made = MakeZeroBackend(group, MakeSingleProcessBackend(at::kCPU),
                                {.stage = 2});
    {
      auto backend = MakeZeroBackend(group, MakeSingleProcessBackend(at::kCPU),
                                     {.stage = 2});
      backend->Prepare(models);
      backend->PrepareOptimizer(optimizer);
    }
    Backend& backend = *made;
    const WholeParameters whole(backend);
    Evaluate(*model);
    EXPECT_EQ(backend.name(), "zero2");
  });
}

// A class in the form of the example in sharded_backend.h.
class OwnSharding final : public ShardedBackend {
 public:
  explicit OwnSharding(std::shared_ptr<ProcessGroup> group)
      : ShardedBackend("own", std::move(group),
                       MakeSingleProcessBackend(at::kCPU), {}, true) {}
  int updates = 0;

 private:
  ParamSlice MakeSlice(const at::Tensor& parameter) override {
    const ShardRange range =
        layout().RangeOf(parameter.numel(), exchange().rank());
    return {parameter, SliceOf(parameter.detach(), range.begin, range.count),
            range.begin};
  }
  void Updated(Optimizer&) override { ++updates; }
};

TEST(HeaderExamplesTest, ShardedBackend) {
  WithTwoRanks([](const std::shared_ptr<ProcessGroup>& group) {
    OwnSharding backend(group);
    const at::Tensor weight = at::ones({32}).requires_grad_();
    SGD optimizer({weight}, {.lr = 1});
    backend.Prepare({{"net", {{"weight", weight}}}});
    backend.Backward(weight.sum(), {});
    backend.FinishGradients(optimizer);
    EXPECT_TRUE(backend.Update(optimizer, {}));
    EXPECT_EQ(backend.updates, 1);
    EXPECT_EQ(weight.sum().item<double>(), 16);  // its own slice is 0
  });
}

}  // namespace
}  // namespace trainyard
