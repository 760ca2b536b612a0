#include "backends/uneven_inputs.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "backends/ddp.h"
#include "backends/single_process.h"
#include "backends/testing/rank_group.h"
#include "trainer/loop/grad_window.h"
#include "trainer/optim/sgd.h"

namespace trainyard {
namespace {

// Batch b of rank r has (r + b + 1) records, all of value 10 r + b. The loss is
// w times their mean, so that its gradient is the mean of the records trained.
double Records(int64_t rank, int64_t batch) {
  return static_cast<double>(rank + batch + 1);
}
double Value(int64_t rank, int64_t batch) {
  return static_cast<double>(10 * rank + batch);
}

class Rig {
 public:
  Rig() { backend_->Prepare({{"net", {{"w", w_}}}}); }
  Backend& backend() { return *backend_; }

  // The gradients of an epoch, one for each update of `accumulation` steps.
  std::vector<double> Epoch(const EpochPlan& plan, int64_t accumulation) {
    std::vector<double> gradients;
    GradWindow window;
    for (int64_t step = 0; step < plan.steps; ++step) {
      if (step % accumulation == 0) {
        window.Start(std::min(accumulation, plan.steps - step));
      }
      const bool ends =
          (step + 1) % accumulation == 0 || step + 1 == plan.steps;
      Step(plan.Batch(step), ends, window);
      if (!ends) continue;
      const double divisor = window.divisor(backend_->FinishGradients(sgd_));
      gradients.push_back(w_.grad().item<double>() / divisor);
      sgd_.ZeroGrad();
      backend_->EndWindow();
    }
    return gradients;
  }

 private:
  void Step(std::optional<int64_t> batch, bool ends, GradWindow& window) {
    const int64_t rank = backend_->rank();
    const double weight = batch ? Records(rank, *batch) : 0;
    const double share = window.Add(weight, backend_->ReferenceWeight(weight));
    const BackwardOptions options = {
        .share = share, .sync = ends, .weight = window.total()};
    if (batch) {
      backend_->Backward(w_.mul(Value(rank, *batch)).sum(), options);
    } else {
      backend_->BackwardWithoutBatch(options);
    }
  }

  const std::unique_ptr<Backend> backend_ =
      MakeDdpBackend(RankGroup(), MakeSingleProcessBackend(at::kCPU));
  at::Tensor w_ = at::ones({1}, at::kDouble).requires_grad_();
  SGD sgd_{{w_}, {.lr = 1}};
};

// The expected gradients: the mean over all records of a window.
std::vector<double> Expected(const std::vector<int64_t>& batches,
                             UnevenInputs policy, int64_t accumulation) {
  const auto [fewest, most] =
      std::minmax_element(batches.begin(), batches.end());
  const int64_t steps = policy == UnevenInputs::kDrop ? *fewest : *most;
  std::vector<double> gradients;
  for (int64_t begin = 0; begin < steps; begin += accumulation) {
    double sum = 0;
    double records = 0;
    for (int64_t step = begin; step < std::min(begin + accumulation, steps);
         ++step) {
      for (int64_t rank = 0; rank < std::ssize(batches); ++rank) {
        int64_t batch = step;
        if (batch >= batches[rank]) {
          if (policy != UnevenInputs::kPad) continue;
          batch %= batches[rank];
        }
        sum += Records(rank, batch) * Value(rank, batch);
        records += Records(rank, batch);
      }
    }
    gradients.push_back(sum / records);
  }
  return gradients;
}

void Check(Rig& rig, const std::vector<int64_t>& batches, UnevenInputs policy,
           int64_t accumulation) {
  const EpochPlan plan = PlanEpoch(rig.backend().collectives(),
                                   batches[rig.backend().rank()], policy);
  const std::vector<double> actual = rig.Epoch(plan, accumulation);
  const std::vector<double> expected = Expected(batches, policy, accumulation);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], 1e-12 * std::abs(expected[i])) << i;
  }
}

TEST(UnevenInputsTest, EveryPolicyGivesTheExactGradient) {
  Rig rig;
  for (const UnevenInputs policy :
       {UnevenInputs::kJoin, UnevenInputs::kDrop, UnevenInputs::kPad}) {
    for (const int64_t accumulation : {1, 2, 3}) {
      Check(rig, {10, 13}, policy, accumulation);
      Check(rig, {5, 2}, policy, accumulation);
      Check(rig, {4, 4}, policy, accumulation);
    }
  }
}

TEST(UnevenInputsTest, ARankMayJoinWithoutBatches) {
  Rig rig;
  Check(rig, {0, 5}, UnevenInputs::kJoin, 2);
  Check(rig, {5, 0}, UnevenInputs::kJoin, 1);
}

TEST(UnevenInputsTest, RejectsEpochsWithoutSteps) {
  Rig rig;
  const auto plan = [&](int64_t first, int64_t second, UnevenInputs policy) {
    PlanEpoch(rig.backend().collectives(),
              rig.backend().rank() == 0 ? first : second, policy);
  };
  EXPECT_THROW(plan(0, 0, UnevenInputs::kJoin), c10::ValueError);
  EXPECT_THROW(plan(3, 0, UnevenInputs::kPad), c10::ValueError);
  EXPECT_THROW(plan(0, 3, UnevenInputs::kDrop), c10::ValueError);
}

}  // namespace
}  // namespace trainyard
