#include "callbacks/weights/model_ema.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full_like.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <stdexcept>

#include "backends/make_backend.h"
#include "callbacks/testing/callback_conformance.h"
#include "callbacks/weights/save_best.h"
#include "trainer/losses.h"
#include "trainer/optim/adamw.h"
#include "trainer/supervised.h"
#include "trainer/testing/line_rig.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

const ModelEmaOptions kOptions = {.decay = {.decay = 0.75}};

// A Linear(3, 1) that learns a line.
struct PlainRig {
  TestLinear model{(at::manual_seed(1), TestLinear(3, 1))};
  AdamW optimizer{*model, {.lr = 0.1, .weight_decay = 0}};
  std::unique_ptr<Backend> backend = MakeBackend("sp");
  Trainer trainer{Supervised(model, MeanSquaredError()), optimizer, *backend};
};

// And its average.
struct Rig : PlainRig {
  explicit Rig(const ModelEmaOptions& options = kOptions)
      : ema(*model, options) {
    trainer.Add(ema);
  }
  at::Tensor average() {
    return ema.ema().NamedTensors()[1].tensor;
  }  // "weight"

  ModelEma ema;
};

// Two updates per epoch.
TrainOptions Options() {
  return {.data = LinePoints(16),
          .eval_data = LinePoints(5),
          .length = Epochs(3),
          .per_device_batch_size = 4,
          .grad_accum_steps = 2};
}

TEST(ModelEmaTest, MovesOncePerUpdate) {
  Rig rig;
  Ema by_hand(*rig.model, kOptions.decay);
  rig.trainer.Add(
      On<UpdateEnd>([&](const UpdateEnd&, Control&) { by_hand.Update(); }));
  rig.trainer.Train(Options());
  EXPECT_EQ(rig.ema.ema().updates(), 6);
  EXPECT_TRUE(at::equal(rig.average(), by_hand.NamedTensors()[1].tensor));
  EXPECT_FALSE(at::equal(rig.average(), rig.model["weight"]));
}

// Not from the weights that the model had when the callback was made.
TEST(ModelEmaTest, StartsFromTheModelOfTheRun) {
  Rig rig;
  {
    const at::NoGradGuard no_gradients;
    rig.model["weight"].fill_(100);
  }
  at::Tensor start;
  rig.trainer.Add(On<EpochStart>([&](const EpochStart&, Control&) {
    if (!start.defined()) start = rig.average().clone();
  }));
  rig.trainer.Train(Options());
  EXPECT_TRUE(at::equal(start, at::full_like(start, 100)));
}

TEST(ModelEmaTest, IsEvaluatedBesideTheModel) {
  Rig rig;
  std::vector<std::string> sets;
  rig.trainer.Add(
      On<EvalEnd>([&](const EvalEnd& e, Control&) { sets.push_back(e.name); }));
  TrainOptions options = Options();
  options.length = Epochs(1);
  rig.trainer.Train(options);
  EXPECT_THAT(sets, ::testing::ElementsAre("eval", "ema_eval"));
  const RunHistory& history = rig.trainer.history();
  EXPECT_EQ(history.Values("eval_loss").size(), 1);
  const double model = history.Latest("eval_loss");
  const double average = history.Latest("ema_eval_loss");
  EXPECT_EQ(rig.trainer.Evaluate(LinePoints(5), 4).at("evaluation_loss"),
            model);
  const Ema::Swap swap(rig.ema.ema());
  EXPECT_EQ(rig.trainer.Evaluate(LinePoints(5), 4).at("evaluation_loss"),
            average);
  EXPECT_NE(model, average);
}

TEST(ModelEmaTest, ASecondOneIsEvaluatedToo) {
  Rig rig;
  ModelEma slow(*rig.model, {.decay = {.decay = 0.99}, .prefix = "slow"});
  rig.trainer.Add(slow, {.duplicates = Duplicates::kAllow});
  rig.trainer.Train(Options());
  const RunHistory& history = rig.trainer.history();
  EXPECT_THAT(history.Names(),
              ::testing::ElementsAre("ema_eval_loss", "eval_loss",
                                     "slow_eval_loss", "train_loss"));
  const Ema::Swap swap(slow.ema());
  EXPECT_EQ(rig.trainer.Evaluate(LinePoints(5), 4).at("evaluation_loss"),
            history.Latest("slow_eval_loss"));
}

TEST(ModelEmaTest, ASecondOneNeedsAPrefixOfItsOwn) {
  Rig rig;
  rig.trainer.Add(ModelEma(*rig.model), {.duplicates = Duplicates::kAllow});
  try {
    rig.trainer.Train(Options());
    FAIL() << "two averages were evaluated under one name";
  } catch (const c10::ValueError& error) {
    EXPECT_THAT(error.what(),
                ::testing::HasSubstr("under the prefix \"ema\"; give each"));
  }
}

TEST(ModelEmaTest, IsEvaluatedOnlyIfAskedFor) {
  Rig rig({.evaluate = false});
  rig.trainer.Train(Options());
  EXPECT_THAT(rig.trainer.history().Names(),
              ::testing::ElementsAre("eval_loss", "train_loss"));
}

// As callbacks/README.md has it.
TEST(ModelEmaTest, TheBestAveragesAreKept) {
  PlainRig rig;
  Trainer& trainer = rig.trainer;
  TestLinear& model = rig.model;
  const std::string run_dir = ::testing::TempDir() + "/best_ema";
  std::filesystem::remove_all(run_dir);
  trainer.Add(ModelEma(*model, {.decay = {.decay = 0.999}}));
  trainer.Add(
      SaveBest(trainer.task().NamedTensors(),
               {.directory = run_dir + "/best", .metric = "ema_eval_loss"}));
  at::Tensor average;
  trainer.Add(On<EvalEnd>([&](const EvalEnd& e, Control&) {
    if (e.name == "ema_eval") average = model["weight"].detach().clone();
  }));
  trainer.Train(Options());
  // It still learns: the last averages are the best.
  EXPECT_TRUE(std::filesystem::exists(run_dir + "/best/step-6.safetensors"));
  EXPECT_TRUE(at::equal(model["weight"], average));
}

TEST(ModelEmaTest, MayBeTheModelAtTheEnd) {
  ModelEmaOptions options = kOptions;
  options.apply_at_end = true;
  Rig rig(options);
  rig.trainer.Train(Options());
  EXPECT_TRUE(at::equal(rig.model["weight"], rig.average()));
}

TEST(ModelEmaTest, ResumedRunEqualsAnUninterruptedOne) {
  Rig straight;
  straight.trainer.Train(Options());
  const std::string folder = ::testing::TempDir() + "/ema_run";
  std::filesystem::remove_all(folder);
  TrainOptions saved = Options();
  saved.checkpoint.directory = folder;
  saved.resume = Resume::kIfPresent;
  {
    Rig first;
    int64_t batches = 0;
    first.trainer.Add(On<StepEnd>([&](const StepEnd&, Control& control) {
      if (++batches == 7) control.RequestStop("in the middle of a window");
    }));
    EXPECT_EQ(first.trainer.Train(saved).ending, RunEnding::kStopped);
  }
  Rig rest;
  rest.trainer.Train(saved);
  EXPECT_EQ(rest.ema.ema().updates(), 6);
  EXPECT_TRUE(at::equal(rest.average(), straight.average()));
  EXPECT_EQ(rest.trainer.history().Values("ema_eval_loss"),
            straight.trainer.history().Values("ema_eval_loss"));
}

TEST(ModelEmaTest, RefusesBadOptionsByName) {
  const TestLinear model(3, 1);
  EXPECT_THROW(ModelEma(*model, {.prefix = ""}), std::invalid_argument);
  EXPECT_THROW(ModelEma(*model, {.decay = {.decay = 2}}),
               std::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(ModelEma, CallbackConformanceTest,
                         ::testing::Values(CallbackCase{
                             "ModelEma",
                             [](SecondsClock) {
                               static const TestLinear model(3, 1);
                               return std::make_unique<ModelEma>(*model);
                             }}),
                         CallbackCaseName);

}  // namespace
}  // namespace trainyard
