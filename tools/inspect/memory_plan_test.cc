// The plan against the bytes of tensors that the backends really hold.
#include "tools/inspect/memory_plan.h"

#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backends/ddp.h"
#include "backends/sharded/fsdp.h"
#include "backends/sharded/zero.h"
#include "backends/single_process.h"
#include "backends/testing/rank_group.h"
#include "tools/bench/counting_allocator.h"
#include "tools/launch/testing/test_rank.h"
#include "trainer/model/model_unit.h"
#include "trainer/optim/adamw.h"

namespace trainyard {
namespace {

constexpr int64_t kCount = 16;
constexpr int64_t kElements = int64_t{1} << 16;
constexpr int64_t kBucketBytes = 2 * 4 * kElements;  // of two parameters

std::unique_ptr<Backend> Make(const std::string& name) {
  auto one = MakeSingleProcessBackend(at::kCPU);
  if (name == "ddp") {
    // Buckets are tensors then, as over a network, and not shared memory.
    return MakeDdpBackend(RankGroup(), std::move(one),
                          {.reducer = {.find_unused_parameters = true}});
  }
  if (name == "fsdp") {
    return MakeFsdpBackend(
        RankGroup(), std::move(one),
        {.bucket_bytes = kBucketBytes, .first_bucket_bytes = kBucketBytes});
  }
  return MakeZeroBackend(RankGroup(), std::move(one),
                         {.stage = name == "zero1" ? 1 : 2,
                          .bucket_bytes = kBucketBytes,
                          .first_bucket_bytes = kBucketBytes});
}

// Waits until so many bytes are held, at most a minute: gloo frees the tensors
// of an exchange a little after it. Returns what is held.
int64_t HeldWhenAtMost(int64_t bytes) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (CountingAllocator::Get().current() > bytes &&
         std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
  }
  return CountingAllocator::Get().current();
}

// `per_unit` parameters are a unit; 0: there are none.
void Compare(const MemoryPlan& plan, size_t per_unit) {
  CountingAllocator& memory = CountingAllocator::Get();
  const auto backend = Make(plan.backend);
  const int64_t before = memory.current();
  ModelTensors model{"net", {}};
  std::vector<at::Tensor> parameters;
  for (int64_t i = 0; i < kCount; ++i) {
    parameters.push_back(at::ones({kElements}).requires_grad_());
    model.parameters.push_back({std::to_string(i), parameters.back()});
    if (per_unit == 0) continue;
    if (static_cast<size_t>(i) % per_unit == 0) {
      model.units.push_back(
          {std::to_string(i), std::make_shared<ModelUnit>(), {}});
    }
    model.units.back().parameters.push_back(parameters.back());
  }
  const auto sum_of = [](const std::vector<at::Tensor>& tensors) {
    at::Tensor sum = tensors[0].mul(2).sum();
    for (size_t i = 1; i < tensors.size(); ++i) {
      sum = sum.add(tensors[i].mul(2).sum());
    }
    return sum;
  };
  AdamW optimizer(parameters, {.lr = 0.1});
  backend->Prepare({model});
  backend->PrepareOptimizer(optimizer);
  const int64_t planned = plan.weights + plan.gradients + plan.state;
  // Flags of the buckets and the counters of AdamW are not planned.
  const int64_t allowed = planned / 1000;
  // The first step makes state and buckets.
  for (int step = 0; step < 2; ++step) {
    at::Tensor loss;
    backend->Forward([&] {
      if (per_unit == 0) loss = sum_of(parameters);
      for (const UnitTensors& unit : model.units) {
        loss = unit.unit->Run(loss, [&](const at::Tensor& input) {
          const at::Tensor sum = sum_of(unit.parameters);
          return input.defined() ? input.add(sum) : sum;
        });
      }
    });
    memory.ResetPeak();
    backend->Backward(loss, {});
    loss.reset();
    backend->FinishGradients(optimizer);
    const int64_t held = HeldWhenAtMost(before + planned + allowed) - before;
    backend->Update(optimizer, {});
    const int64_t peak = memory.peak() - before;
    optimizer.ZeroGrad();
    backend->EndWindow();
    if (step == 0) continue;
    EXPECT_NEAR(held, planned, allowed);
    EXPECT_GE(peak, plan.total() - allowed);
    // Buckets that gloo's two threads have exchanged and not freed yet.
    EXPECT_LE(peak, plan.total() + allowed + 4 * kBucketBytes);
    if (TestRank() == 0) {
      std::printf("%s: planned %lld and %lld, measured %lld and %lld\n",
                  plan.backend.c_str(), static_cast<long long>(planned),
                  static_cast<long long>(plan.total()),
                  static_cast<long long>(held), static_cast<long long>(peak));
    }
  }
}

TEST(MemoryPlanTest, IsWhatTheBackendsHold) {
  // Over a network, exchanges need tensors; shared memory is not counted.
  ASSERT_EQ(setenv("TRAINYARD_SHARED_MEMORY", "0", 1), 0);
  const int64_t nothing = CountingAllocator::Get().current();
  for (const int64_t per_unit : {0, 2, 4}) {
    MemoryQuestion question{.parameters = kCount * kElements,
                            .ranks = TestWorldSize(),
                            .largest = kElements,
                            .bucket_bytes = kBucketBytes};
    if (per_unit > 0) question.unit = per_unit * kElements;
    const std::vector<MemoryPlan> plans = PlanMemory(question);
    ASSERT_EQ(plans.size(), 4);
    for (const MemoryPlan& plan : plans) {
      if (per_unit > 0 && plan.backend != "fsdp") continue;
      SCOPED_TRACE(plan.backend + ", " + std::to_string(per_unit));
      // What the last backend had is freed, except for a few numbers.
      HeldWhenAtMost(nothing + kElements);
      Compare(plan, static_cast<size_t>(per_unit));
    }
  }
}

TEST(MemoryPlanTest, HeaderExample) {
  std::ostringstream out;
  for (const MemoryPlan& plan :
       PlanMemory({.parameters = 1'000'000'000, .ranks = 8})) {
    out << plan.backend << " " << plan.total() << "\n";
  }
  EXPECT_THAT(out.str(), ::testing::HasSubstr("ddp 16026214400\n"));
}

}  // namespace
}  // namespace trainyard
