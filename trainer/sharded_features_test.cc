// Tied weights, averages, adapters, buffers, frozen parameters and groups with
// schedules give under a sharded backend what they give under ddp.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/tanh.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/make_backend.h"
#include "backends/processes/run_ranks.h"
#include "backends/testing/ddp_rig.h"
#include "backends/whole_parameters.h"
#include "callbacks/weights/model_ema.h"
#include "finetuning/lora/lora.h"
#include "schedulers/cosine.h"
#include "schedulers/linear.h"
#include "trainer/checkpoint/testing/sample_checkpoint.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/losses.h"
#include "trainer/model/sequential_units.h"
#include "trainer/optim/adamw.h"
#include "trainer/optim/param_group_rules.h"
#include "trainer/supervised.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

constexpr int64_t kUpdates = 12;

// 24 inputs, 3 outputs.
DatasetPtr Waves() {
  const at::Tensor x = at::arange(24 * 24, at::kFloat).sin().reshape({24, 24});
  return MakeTensorDataset(Example{x, x.narrow(1, 0, 3).mul(2)});
}

TestModule Perceptron() {
  return TestSequential{TestLinear(24, 20), TestTanh(), TestLinear(20, 3)};
}

// Ranks are threads, which share a random generator.
void SetWeights(const TestModule& model) {
  const at::NoGradGuard no_gradients;
  for (const auto& item : model.named_parameters()) {
    const at::Tensor& weight = item.value();
    weight.copy_(at::arange(weight.numel(), at::kFloat)
                     .cos()
                     .mul(0.3)
                     .reshape(weight.sizes()));
  }
}

struct Feature {
  std::function<TestModule()> model = Perceptron;
  // Whether each layer becomes a unit, for fsdp.
  bool sequential = true;
  // Changes the model when it has its weights. What it returns lives as long as
  // the model.
  std::function<std::shared_ptr<void>(const TestModule&)> adapt = nullptr;
  std::function<ParamGroups(const TestModule&)> groups =
      [](const TestModule& net) { return ParamGroups(*net); };
  GroupSchedules schedule = {};
  std::vector<FieldSchedule> schedules = {};
  bool average = false;
};

struct Run {
  std::string backend;
  std::string directory;
  int64_t stop_at = -1;  // after this many updates
};

// The parameters, the buffers and the averages, by name, and the fields.
struct Outcome {
  std::vector<std::string> names = {};
  std::vector<at::Tensor> tensors = {};
  std::vector<double> fields = {};
};

void Append(const TestModule& model, const std::string& prefix,
            Outcome& outcome) {
  for (const auto& tensors :
       {model.named_parameters(), model.named_buffers()}) {
    for (const auto& item : tensors) {
      outcome.names.push_back(prefix + item.key());
      outcome.tensors.push_back(item.value().detach().clone());
    }
  }
}

Outcome TrainRank(Backend& backend, const DatasetPtr& data,
                  const Feature& feature, const Run& run) {
  TestModule model = feature.model();
  SetWeights(model);
  const std::shared_ptr<void> adapted =
      feature.adapt ? feature.adapt(model) : nullptr;
  if (feature.sequential) DeclareUnits(*model);
  AdamW optimizer(feature.groups(model), {.lr = 0.01, .weight_decay = 0.1});
  Trainer trainer(Supervised(model, MeanSquaredError()), optimizer, backend,
                  {.default_callbacks = false});
  ModelEma* average = nullptr;
  if (feature.average) {
    average = &trainer.Add(
        ModelEma(*model, {.decay = {.decay = 0.9}, .evaluate = false}));
  }
  trainer.Add(On<StepEnd>([&](const StepEnd& e, Control& control) {
    if (e.clock.updates() == run.stop_at) control.RequestStop("the test stops");
  }));
  trainer.Train({.data = data,
                 .length = Updates(kUpdates),
                 .per_device_batch_size = 4,
                 .grad_accum_steps = 2,
                 .clip = ClipNorm(1),
                 .schedule = feature.schedule,
                 .schedules = feature.schedules,
                 .checkpoint = {.directory = run.directory,
                                .save = Every(Updates(kUpdates))},
                 .resume = Resume::kIfPresent,
                 .handle_signals = false});
  Outcome outcome;
  const WholeParameters whole(backend);
  Append(model, "", outcome);
  if (average != nullptr) {
    const Ema::Swap swapped(average->ema());
    Append(model, "average ", outcome);
  }
  for (size_t group = 0; group < optimizer.num_groups(); ++group) {
    for (const auto& [name, value] : optimizer.Fields(group)) {
      outcome.fields.push_back(value);
    }
  }
  return outcome;
}

// Trains on two ranks, which must end equal to the bit. Returns that end.
Outcome Train(const Feature& feature, const Run& run) {
  const DatasetPtr data = Waves();
  std::vector<Outcome> ranks(2);
  RunRanks(2, [&](const Rendezvous& rendezvous) {
    const auto backend = MakeBackend(run.backend, {.rendezvous = rendezvous});
    ranks[static_cast<size_t>(rendezvous.rank)] =
        TrainRank(*backend, data, feature, run);
  });
  EXPECT_EQ(ranks[0].names, ranks[1].names);
  EXPECT_EQ(ranks[0].fields, ranks[1].fields);
  for (size_t i = 0; i < ranks[0].tensors.size(); ++i) {
    EXPECT_TRUE(ranks[0].tensors[i].equal(ranks[1].tensors[i]))
        << ranks[0].names[i] << " differs between ranks";
  }
  return ranks[0];
}

void ExpectEqual(const Outcome& actual, const Outcome& expected) {
  EXPECT_EQ(actual.names, expected.names);
  EXPECT_EQ(actual.fields, expected.fields);
  for (size_t i = 0; i < expected.tensors.size(); ++i) {
    EXPECT_TRUE(actual.tensors[i].equal(expected.tensors[i]))
        << expected.names[i];
  }
}

// Returns how ddp ends.
Outcome CompareWithDdp(const Feature& feature) {
  const std::string folder = TestFolder();
  const Outcome ddp =
      Train(feature, {.backend = "ddp", .directory = folder + "/ddp"});
  for (const std::string backend : {"zero1", "zero2", "fsdp"}) {
    SCOPED_TRACE(backend);
    const Outcome zero = Train(
        feature, {.backend = backend, .directory = folder + "/" + backend});
    EXPECT_EQ(zero.names, ddp.names);
    EXPECT_EQ(zero.fields, ddp.fields);
    EXPECT_LT(Difference(zero.tensors, ddp.tensors), 1e-6);
    // Stopped and resumed.
    const std::string parts = folder + "/" + backend + " in parts";
    Train(feature, {.backend = backend, .directory = parts, .stop_at = 5});
    ExpectEqual(Train(feature, {.backend = backend, .directory = parts}), zero);
  }
  return ddp;
}

// The tensor of this name before training.
at::Tensor Initial(const Feature& feature, const std::string& name) {
  TestModule model = feature.model();
  SetWeights(model);
  return model[name].detach();
}

at::Tensor Find(const Outcome& outcome, const std::string& name) {
  for (size_t i = 0; i < outcome.names.size(); ++i) {
    if (outcome.names[i] == name) return outcome.tensors[i];
  }
  ADD_FAILURE() << "there is no " << name;
  return {};
}

// An autoencoder whose second layer is the first one transposed, under two
// names.
TEST(ShardedFeaturesTest, TiedWeights) {
  const Feature feature{
      .model =
          [] {
            const at::Tensor weight = at::arange(20 * 24, at::kFloat)
                                          .reshape({20, 24})
                                          .requires_grad_();
            const TestLinear head(24, 3);
            return TestCustom(
                {.children = {{"head", head}},
                 .parameters = {{"encoder", weight}, {"decoder", weight}},
                 .forward = [weight, head](const at::Tensor& x) {
                   const at::Tensor hidden = at::tanh(at::linear(x, weight));
                   return head(at::linear(hidden, weight.t()));
                 }});
          },
      .sequential = false};
  const Outcome ddp = CompareWithDdp(feature);
  EXPECT_FALSE(Find(ddp, "encoder").equal(Initial(feature, "encoder")));
  EXPECT_TRUE(Find(ddp, "encoder").equal(Find(ddp, "decoder")));
}

TEST(ShardedFeaturesTest, Averages) {
  const Outcome ddp = CompareWithDdp({.average = true});
  EXPECT_FALSE(Find(ddp, "average 0.weight").equal(Find(ddp, "0.weight")));
}

TEST(ShardedFeaturesTest, Adapters) {
  const Feature feature{.adapt = [](const TestModule& model) {
    auto lora = std::make_shared<Lora>(
        *model, LoraOptions{.targets = {"0"}, .rank = 2, .also_train = {"2"}});
    const at::NoGradGuard no_gradients;
    const at::Tensor a = model["0.lora_A.weight"];
    a.copy_(at::arange(a.numel(), at::kFloat).sin().reshape(a.sizes()));
    return lora;
  }};
  const Outcome ddp = CompareWithDdp(feature);
  EXPECT_GT(Find(ddp, "0.lora_B.weight").abs().max().item<double>(), 0.001);
}

// The bias of a layer right before a BatchNorm would have no gradient but
// rounding errors, which AdamW makes large.
TEST(ShardedFeaturesTest, BuffersAndTheirAverages) {
  const Outcome ddp = CompareWithDdp(
      {.model =
           [] {
             return TestSequential{TestLinear(24, 20), TestTanh(),
                                   TestBatchNorm1d(20), TestLinear(20, 3)};
           },
       .average = true});
  // An epoch has a window of two batches and a window of one.
  EXPECT_EQ(Find(ddp, "2.num_batches_tracked").item<int64_t>(),
            kUpdates / 2 * 3);
  EXPECT_GT(Find(ddp, "2.running_mean").abs().max().item<double>(), 0.001);
}

TEST(ShardedFeaturesTest, FrozenParameters) {
  const Feature feature{.adapt = [](const TestModule& model) {
    model["0.weight"].set_requires_grad(false);
    return nullptr;
  }};
  const Outcome ddp = CompareWithDdp(feature);
  EXPECT_TRUE(Find(ddp, "0.weight").equal(Initial(feature, "0.weight")));
  EXPECT_FALSE(Find(ddp, "2.weight").equal(Initial(feature, "2.weight")));
}

TEST(ShardedFeaturesTest, GroupsWithSchedules) {
  const Outcome ddp = CompareWithDdp(
      {.groups =
           [](const TestModule& model) {
             return OverrideByName(NoDecayForBiasAndNorm(*model),
                                   {{"2.weight", {{"lr", 0.05}}}});
           },
       .schedule = PerGroup({Cosine({.warmup = Updates(3)}), Linear(),
                             Linear({.end_ratio = 0.5})}),
       .schedules = {{.field = "weight_decay", .schedule = Cosine()}}});
  // Three groups with four fields or more.
  EXPECT_GE(ddp.fields.size(), 12);
}

}  // namespace
}  // namespace trainyard
