// Sharded training gives the numbers that ddp and one process give.
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/amp.h"
#include "backends/ddp.h"
#include "backends/sharded/fsdp.h"
#include "backends/sharded/zero.h"
#include "backends/single_process.h"
#include "backends/testing/ddp_rig.h"
#include "backends/testing/rank_group.h"
#include "backends/whole_parameters.h"
#include "tools/launch/testing/test_rank.h"
#include "tools/testing/error_of.h"
#include "trainer/loop/grad_window.h"
#include "trainer/optim/adadelta.h"
#include "trainer/optim/adafactor.h"
#include "trainer/optim/adagrad.h"
#include "trainer/optim/adam.h"
#include "trainer/optim/adamax.h"
#include "trainer/optim/adamw.h"
#include "trainer/optim/asgd.h"
#include "trainer/optim/lamb.h"
#include "trainer/optim/lbfgs.h"
#include "trainer/optim/lion.h"
#include "trainer/optim/muon.h"
#include "trainer/optim/nadam.h"
#include "trainer/optim/radam.h"
#include "trainer/optim/rmsprop.h"
#include "trainer/optim/rprop.h"
#include "trainer/optim/sgd.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

constexpr double kTolerance = 1e-6;
constexpr int64_t kUpdates = 50;
constexpr int64_t kRecords = 32;

using MakeOptimizer =
    std::function<std::unique_ptr<Optimizer>(const std::vector<at::Tensor>&)>;

template <class T, class Options>
MakeOptimizer Make(const Options& options) {
  return [options](const std::vector<at::Tensor>& params) {
    return std::make_unique<T>(params, options);
  };
}

struct Setting {
  int64_t accumulation = 1;
  Clip clip = {};
  bool freeze_first = false;
  MakeOptimizer optimizer =
      Make<AdamW>(AdamWOptions{.lr = 0.01, .weight_decay = 0.1});
};

std::unique_ptr<Backend> Alone() { return MakeSingleProcessBackend(at::kCPU); }

std::unique_ptr<Backend> Ddp() { return MakeDdpBackend(RankGroup(), Alone()); }

std::unique_ptr<Backend> Zero(int stage) {
  // Small buckets: several of them, one with several parameters.
  return MakeZeroBackend(
      RankGroup(), Alone(),
      {.stage = stage, .bucket_bytes = 512, .first_bucket_bytes = 64});
}

const std::vector<std::string>& AllSharded() {
  static const std::vector<std::string> names = {
      "zero1", "zero2", "fsdp", "fsdp, one unit", "fsdp, kept"};
  return names;
}

std::unique_ptr<Backend> Sharded(const std::string& name) {
  if (name == "zero1") return Zero(1);
  if (name == "zero2") return Zero(2);
  FsdpOptions options{.keep_after_forward = name == "fsdp, kept",
                      .bucket_bytes = 512,
                      .first_bucket_bytes = 64};
  if (name == "fsdp, one unit") {
    options.is_unit = [](const std::string&) { return false; };
  }
  return MakeFsdpBackend(RankGroup(), Alone(), options);
}

std::vector<at::Tensor> Train(Backend& backend, const Setting& setting) {
  const TinyMlp model;
  std::vector<at::Tensor> trained = model.parameters();
  if (setting.freeze_first) {
    trained[0].set_requires_grad(false);
    trained.erase(trained.begin());
  }
  const std::unique_ptr<Optimizer> optimizer = setting.optimizer(trained);
  backend.Prepare({model.Model()});
  backend.PrepareOptimizer(*optimizer);
  const int64_t micro_batch =
      kRecords / backend.num_processes() / setting.accumulation;
  GradWindow window;
  for (int64_t update = 0; update < kUpdates; ++update) {
    window.Start(setting.accumulation);
    for (int64_t i = 0; i < setting.accumulation; ++i) {
      const int64_t begin =
          update * kRecords +
          (backend.rank() * setting.accumulation + i) * micro_batch;
      at::Tensor loss;
      backend.Forward([&] {
        loss = model.Loss(RigInputs(begin, micro_batch),
                          RigTargets(begin, micro_batch));
      });
      const auto weight = static_cast<double>(micro_batch);
      const double share = window.Add(weight, backend.ReferenceWeight(weight));
      backend.Backward(loss, {.share = share,
                              .sync = i + 1 == setting.accumulation,
                              .weight = window.total()});
    }
    const double divisor = window.divisor(backend.FinishGradients(*optimizer));
    backend.Update(*optimizer, {.divisor = divisor, .clip = setting.clip});
    optimizer->ZeroGrad();
    backend.EndWindow();
  }
  const WholeParameters whole(backend);
  std::vector<at::Tensor> parameters;
  for (const at::Tensor& parameter : model.parameters()) {
    EXPECT_FALSE(parameter.grad().defined());
    parameters.push_back(parameter.detach().clone());
  }
  return parameters;
}

void ExpectEqualOnAllRanks(Backend& backend,
                           const std::vector<at::Tensor>& parameters) {
  for (const at::Tensor& parameter : parameters) {
    for (const at::Tensor& other :
         backend.collectives().AllGather(parameter.detach())) {
      EXPECT_TRUE(at::equal(other, parameter));
    }
  }
}

void CompareWithDdpAndOneProcess(const Setting& setting) {
  const std::vector<at::Tensor> alone = Train(*Alone(), setting);
  const std::vector<at::Tensor> ddp = Train(*Ddp(), setting);
  for (const std::string& name : AllSharded()) {
    SCOPED_TRACE(name);
    const auto backend = Sharded(name);
    const std::vector<at::Tensor> sharded = Train(*backend, setting);
    ExpectEqualOnAllRanks(*backend, sharded);
    EXPECT_LT(Difference(sharded, ddp), kTolerance);
    EXPECT_LT(Difference(sharded, alone), kTolerance);
    // Training did something.
    EXPECT_GT(Difference(sharded, TinyMlp().parameters()), 0.05);
  }
}

TEST(ShardedTrainingTest, EqualsDdpAndOneProcess) {
  CompareWithDdpAndOneProcess({});
}

TEST(ShardedTrainingTest, Accumulates) {
  CompareWithDdpAndOneProcess({.accumulation = 4});
}

TEST(ShardedTrainingTest, ClipsByTheNormOverAllRanks) {
  CompareWithDdpAndOneProcess({.clip = ClipNorm(0.05)});
}

TEST(ShardedTrainingTest, ClipsByValue) {
  CompareWithDdpAndOneProcess({.clip = ClipValue(0.01)});
}

TEST(ShardedTrainingTest, LeavesFrozenParametersAlone) {
  CompareWithDdpAndOneProcess({.accumulation = 2, .freeze_first = true});
  for (const std::string& name : AllSharded()) {
    const std::vector<at::Tensor> trained =
        Train(*Sharded(name), {.freeze_first = true});
    EXPECT_TRUE(at::equal(trained[0], TinyMlp().parameters()[0])) << name;
  }
}

TEST(ShardedTrainingTest, EveryOtherElementWiseOptimizer) {
  const std::vector<std::pair<std::string, MakeOptimizer>> optimizers = {
      {"SGD", Make<SGD>(SGDOptions{.lr = 0.05, .momentum = 0.9})},
      // Has numbers per parameter beside those per element.
      {"ASGD", Make<ASGD>(ASGDOptions{.lr = 0.05})},
      {"Adam", Make<Adam>(AdamOptions{.lr = 0.01, .amsgrad = true})},
      {"Adadelta", Make<Adadelta>(AdadeltaOptions{.lr = 2})},
      {"Adagrad", Make<Adagrad>(AdagradOptions{.lr = 0.05})},
      {"Adamax", Make<Adamax>(AdamaxOptions{.lr = 0.01})},
      {"Lion", Make<Lion>(LionOptions{.lr = 0.005})},
      {"NAdam", Make<NAdam>(NAdamOptions{.lr = 0.01})},
      {"RAdam", Make<RAdam>(RAdamOptions{.lr = 0.05})},
      {"RMSprop", Make<RMSprop>(RMSpropOptions{.lr = 0.01, .momentum = 0.5})},
      {"Rprop", Make<Rprop>(RpropOptions{.lr = 0.001})},
  };
  for (const auto& [name, optimizer] : optimizers) {
    SCOPED_TRACE(name);
    CompareWithDdpAndOneProcess({.optimizer = optimizer});
  }
}

TEST(ShardedTrainingTest, MixedPrecisionEqualsDdp) {
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    const auto ddp = MakeAmpBackend(Ddp(), {.dtype = type});
    const std::vector<at::Tensor> expected = Train(*ddp, {});
    for (const std::string& name : AllSharded()) {
      SCOPED_TRACE(name);
      const auto sharded = MakeAmpBackend(Sharded(name), {.dtype = type});
      EXPECT_EQ(sharded->name(), name.substr(0, name.find(',')) + "-amp");
      const std::vector<at::Tensor> actual = Train(*sharded, {});
      ExpectEqualOnAllRanks(*sharded, actual);
      EXPECT_LT(Difference(actual, expected), kTolerance) << type;
    }
  }
}

// A parameter that is large enough for every rank to have a slice of it.
struct OneParameter {
  at::Tensor weight = at::ones({4, 32}).set_requires_grad(true);
  ModelTensors Model() const { return {"net", {{"weight", weight}}}; }
};

// Only the slice of the last rank overflows; all ranks skip the step.
TEST(ShardedTrainingTest, AllRanksSkipAStepThatOverflowsOnOne) {
  const auto backend = MakeAmpBackend(Zero(2), {.dtype = at::kHalf});
  const OneParameter net;
  AdamW optimizer({net.weight}, {.lr = 0.1});
  backend->Prepare({net.Model()});
  at::Tensor factor = at::ones({4, 32});
  factor.view({-1})[127] = std::numeric_limits<float>::infinity();
  backend->Backward(net.weight.mul(factor).sum(), {});
  backend->FinishGradients(optimizer);
  EXPECT_FALSE(backend->Update(optimizer, {}));
  backend->EndWindow();
  EXPECT_TRUE(at::equal(net.weight, at::ones({4, 32})));
  EXPECT_EQ(backend->SaveState().Get<double>("scale"), 32768);
}

TEST(ShardedTrainingTest, StateIsThisRanksSlice) {
  const auto backend = Zero(1);
  const OneParameter net;
  AdamW optimizer({{.params = {{"weight", net.weight}}}}, {.lr = 0.1});
  backend->Prepare({net.Model()});
  backend->PrepareOptimizer(optimizer);
  EXPECT_TRUE(optimizer.Trains(net.weight));
  EXPECT_EQ(optimizer.slices().at("weight").begin,
            128 / TestWorldSize() * TestRank());
  for (const NamedTensor& item : optimizer.NamedTensors()) {
    EXPECT_EQ(item.tensor.numel(),
              item.name == "weight/step" ? 1 : 128 / TestWorldSize())
        << item.name;
  }
}

// Weight decay would change a parameter that no loss depends on.
TEST(ShardedTrainingTest, AParameterWithoutGradientIsNotUpdated) {
  const auto backend = Zero(2);
  const OneParameter used, unused, on_rank_0;
  AdamW optimizer({used.weight, unused.weight, on_rank_0.weight},
                  {.lr = 0.1, .weight_decay = 0.5});
  backend->Prepare({{"net",
                     {{"used", used.weight},
                      {"unused", unused.weight},
                      {"on_rank_0", on_rank_0.weight}}}});
  at::Tensor loss = used.weight.sum();
  if (TestRank() == 0) loss = loss.add(on_rank_0.weight.sum());
  backend->Backward(loss, {});
  backend->FinishGradients(optimizer);
  EXPECT_TRUE(backend->Update(optimizer, {}));
  EXPECT_TRUE(at::equal(unused.weight, at::ones({4, 32})));
  EXPECT_FALSE(at::equal(used.weight, at::ones({4, 32})));
  EXPECT_TRUE(at::equal(used.weight, on_rank_0.weight));
}

TEST(ShardedTrainingTest, ARankWithoutABatchTakesPart) {
  const auto backend = Zero(2);
  const OneParameter net;
  SGD optimizer({net.weight}, {.lr = 1});
  backend->Prepare({net.Model()});
  if (TestRank() == 0) {
    backend->Backward(net.weight.sum(), {.weight = 2});
  } else {
    backend->BackwardWithoutBatch({.weight = 0});
  }
  EXPECT_EQ(backend->FinishGradients(optimizer), 2.0 / TestWorldSize());
  EXPECT_TRUE(backend->Update(optimizer, {.divisor = 2.0 / TestWorldSize()}));
  EXPECT_TRUE(at::equal(net.weight, at::full({4, 32}, 0.5F)));
}

// Two losses, e.g. of a GAN's generator and discriminator.
TEST(ShardedTrainingTest, GradientsOfSeveralLossesAddUp) {
  const auto backend = Zero(2);
  const OneParameter a, b;
  SGD first({a.weight}, {.lr = 1}), second({b.weight}, {.lr = 1});
  backend->Prepare(
      {{"a", {{"weight", a.weight}}}, {"b", {{"weight", b.weight}}}});
  backend->Backward(a.weight.sum(), {});
  backend->Backward(a.weight.sum().mul(2).add(b.weight.sum()), {});
  backend->FinishGradients(first);
  EXPECT_TRUE(backend->Update(first, {}));
  first.ZeroGrad();
  EXPECT_TRUE(at::equal(a.weight, at::full({4, 32}, -2.0F)));
  EXPECT_TRUE(at::equal(b.weight, at::ones({4, 32})));
  backend->FinishGradients(second);
  EXPECT_TRUE(backend->Update(second, {}));
  EXPECT_TRUE(at::equal(b.weight, at::full({4, 32}, 0.0F)));
}

TEST(ShardedTrainingTest, NoticesThatAParameterIsUnfrozen) {
  const auto backend = Zero(1);
  const OneParameter a, b;
  at::Tensor frozen = b.weight;
  frozen.set_requires_grad(false);
  SGD optimizer({a.weight}, {.lr = 1});
  backend->Prepare({{"net", {{"a", a.weight}, {"b", frozen}}}});
  backend->Backward(a.weight.sum(), {});
  backend->FinishGradients(optimizer);
  backend->Update(optimizer, {});
  optimizer.ZeroGrad();
  frozen.set_requires_grad(true);
  optimizer.AddGroup({.params = {{"b", frozen}}});
  backend->Backward(a.weight.sum().add(frozen.sum().mul(3)), {});
  backend->FinishGradients(optimizer);
  backend->Update(optimizer, {});
  EXPECT_TRUE(at::equal(a.weight, at::full({4, 32}, -1.0F)));
  EXPECT_TRUE(at::equal(frozen, at::full({4, 32}, -2.0F)));
}

TEST(ShardedTrainingTest, RefusesOptimizersThatLookAtWholeTensors) {
  const auto backend = Zero(1);
  const OneParameter net;
  backend->Prepare({net.Model()});
  const auto refused = [&](Optimizer& optimizer) {
    return ErrorOf<c10::ValueError>(
        [&] { backend->PrepareOptimizer(optimizer); });
  };
  Lamb lamb({net.weight});
  EXPECT_THAT(refused(lamb), HasSubstr("Lamb: an update looks at whole"));
  Adafactor adafactor({net.weight});
  EXPECT_THAT(refused(adafactor), HasSubstr("Adafactor: an update looks at"));
  Muon muon({{.params = {{"weight", net.weight}}}});
  EXPECT_THAT(refused(muon), HasSubstr("Muon: an update looks at whole"));
  LBFGS lbfgs({net.weight});
  EXPECT_THAT(refused(lbfgs), HasSubstr("LBFGS: an update looks at whole"));
}

TEST(ShardedTrainingTest, RefusesWhatItCannotDo) {
  const auto backend = Zero(1);
  const OneParameter net, other;
  SGD optimizer({net.weight}), foreign({other.weight});
  backend->Prepare({net.Model()});
  EXPECT_THAT(
      ErrorOf<c10::ValueError>([&] { backend->PrepareOptimizer(foreign); }),
      HasSubstr("in none of the prepared models"));
  const Clip clip = ClipWith([](const std::vector<at::Tensor>&) {});
  EXPECT_THAT(ErrorOf<c10::ValueError>(
                  [&] { backend->Update(optimizer, {.clip = clip}); }),
              HasSubstr("use ClipNorm or ClipValue"));
  EXPECT_THAT(ErrorOf<c10::ValueError>([&] { Zero(3); }),
              HasSubstr("stage is 3"));
}

}  // namespace
}  // namespace trainyard
