// What reads and writes parameters outside of passes, and steps that a rank
// drops or has no records for, under a backend that shards parameters: as ddp.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "backends/make_backend.h"
#include "backends/processes/run_ranks.h"
#include "backends/testing/ddp_rig.h"
#include "backends/whole_parameters.h"
#include "callbacks/weights/learning_rate_finder.h"
#include "callbacks/weights/model_ema.h"
#include "callbacks/weights/save_best.h"
#include "trainer/checkpoint/testing/sample_checkpoint.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/model/sequential_units.h"
#include "trainer/optim/adamw.h"
#include "trainer/task.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

// Says what a batch of a rank, counted from 1, is like.
enum class Kind { kGood, kMasked, kNan };
using KindOf = std::function<Kind(int64_t rank, int64_t batch)>;

class WaveTask final : public TaskOf<Example> {
 public:
  WaveTask(int64_t rank, KindOf kind) : rank_(rank), kind_(std::move(kind)) {
    const at::NoGradGuard no_gradients;
    for (const auto& item : net_.named_parameters()) {
      const at::Tensor& weight = item.value();
      weight.copy_(at::arange(weight.numel(), at::kFloat)
                       .cos()
                       .mul(0.3)
                       .reshape(weight.sizes()));
    }
    DeclareUnits(*net_);
    AddModel("net", net_.ptr());
    AddOptimizer("adamw", optimizer_);
  }
  StepOutput TrainStep(const Example& batch, StepContext&) override {
    StepOutput output{.loss = Loss(batch)};
    const Kind kind = kind_ ? kind_(rank_, ++batches_) : Kind::kGood;
    if (kind != Kind::kGood) {
      output.loss = output.loss.mul(std::numeric_limits<double>::quiet_NaN());
    }
    if (kind == Kind::kMasked) output.weight = 0;
    return output;
  }
  StepOutput EvalStep(const Example& batch, StepContext&) override {
    return {.loss = Loss(batch)};
  }
  AdamW& optimizer() { return optimizer_; }
  const TestModule& net() const { return net_; }

 private:
  at::Tensor Loss(const Example& batch) const {
    return net_->forward(batch.input).sub(batch.target).square().mean();
  }
  TestSequential net_{TestLinear(6, 20), TestTanh(), TestLinear(20, 2)};
  AdamW optimizer_{*net_, {.lr = 0.02}};
  const int64_t rank_;
  const KindOf kind_;
  int64_t batches_ = 0;
};

struct RunSetup {
  std::function<void(Trainer&, WaveTask&)> add = nullptr;
  KindOf kind = nullptr;
  TrainOptions options = {};
  int runs = 1;
};

// Trains on two ranks, which must end equal. Returns the parameters.
std::vector<at::Tensor> Train(const std::string& name, const RunSetup& setup) {
  const at::Tensor x = at::arange(48 * 6, at::kFloat).sin().reshape({48, 6});
  const DatasetPtr data =
      MakeTensorDataset(Example{x, x.narrow(1, 0, 2).mul(2)});
  std::vector<std::vector<at::Tensor>> ranks(2);
  RunRanks(2, [&](const Rendezvous& rendezvous) {
    const auto backend = MakeBackend(name, {.rendezvous = rendezvous});
    WaveTask task(rendezvous.rank, setup.kind);
    Trainer trainer(task, *backend, {.default_callbacks = false});
    if (setup.add) setup.add(trainer, task);
    TrainOptions options = setup.options;
    options.data = data;
    options.eval_data = data;
    options.length = Epochs(2);
    options.per_device_batch_size = 4;
    options.grad_accum_steps = 2;
    options.handle_signals = false;
    for (int run = 0; run < setup.runs; ++run) trainer.Train(options);
    const WholeParameters whole(*backend);
    for (const at::Tensor& parameter : task.net().parameters()) {
      ranks[static_cast<size_t>(rendezvous.rank)].push_back(
          parameter.detach().clone());
    }
  });
  for (size_t i = 0; i < ranks[0].size(); ++i) {
    EXPECT_TRUE(ranks[0][i].equal(ranks[1][i])) << i;
  }
  return ranks[0];
}

std::vector<at::Tensor> Untrained() {
  std::vector<at::Tensor> values;
  for (const at::Tensor& parameter : WaveTask(0, nullptr).net().parameters()) {
    values.push_back(parameter.detach());
  }
  return values;
}

void ExpectSameAsDdp(const std::function<RunSetup(const std::string&)>& setup) {
  const std::vector<at::Tensor> ddp = Train("ddp", setup("ddp"));
  EXPECT_LT(Difference(Train("fsdp", setup("fsdp")), ddp), 1e-6);
  EXPECT_GT(Difference(ddp, Untrained()), 0.01);
}

// The second run starts from the best weights of the first.
TEST(ShardedCallbacksTest, TheBestWeightsAreReloaded) {
  const std::string folder = TestFolder();
  ExpectSameAsDdp([&](const std::string& name) {
    return RunSetup{
        .add =
            [folder, name](Trainer& trainer, WaveTask&) {
              trainer.Add(SaveBest(trainer.task().NamedTensors(),
                                   {.directory = folder + "/" + name,
                                    .better = Better::kHigher}));
            },
        .runs = 2};
  });
}

TEST(ShardedCallbacksTest, AveragesAreEvaluatedAndApplied) {
  ExpectSameAsDdp([&](const std::string&) {
    return RunSetup{.add =
                        [](Trainer& trainer, WaveTask& task) {
                          trainer.Add(ModelEma(
                              *task.net(),
                              {.decay = {.decay = 0.8}, .apply_at_end = true}));
                        },
                    .runs = 2};
  });
}

TEST(ShardedCallbacksTest, ATrialOfLearningRatesChangesNothing) {
  const auto setup = [] {
    return RunSetup{.add = [](Trainer& trainer, WaveTask& task) {
      trainer.Add(
          LearningRateFinder(task.optimizer(), trainer.task().NamedTensors()));
    }};
  };
  for (const std::string name : {"ddp", "zero2", "fsdp"}) {
    EXPECT_EQ(Difference(Train(name, setup()), Untrained()), 0) << name;
  }
}

// A batch that is NaN on one rank, in the middle of a window or at its end.
TEST(ShardedCallbacksTest, ARankWhoseLossIsNotFinite) {
  for (const int64_t bad : {3, 4}) {
    ExpectSameAsDdp([&](const std::string&) {
      return RunSetup{.kind =
                          [bad](int64_t rank, int64_t batch) {
                            return rank == 1 && batch == bad ? Kind::kNan
                                                             : Kind::kGood;
                          },
                      .options = {.max_dropped_updates = 3}};
    });
  }
}

TEST(ShardedCallbacksTest, ARankWhoseBatchIsMasked) {
  for (const int64_t bad : {3, 4}) {
    ExpectSameAsDdp([&](const std::string&) {
      return RunSetup{.kind = [bad](int64_t rank, int64_t batch) {
        return rank == 1 && batch == bad ? Kind::kMasked : Kind::kGood;
      }};
    });
  }
}

}  // namespace
}  // namespace trainyard
