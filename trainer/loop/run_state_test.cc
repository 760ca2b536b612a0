#include "trainer/loop/run_state.h"

#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/make_backend.h"
#include "tools/testing/error_of.h"
#include "trainer/state_tensor.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Notes the order of loading.
class Part final : public Stateful {
 public:
  explicit Part(std::vector<std::string>& log, std::string name)
      : log_(log), name_(std::move(name)) {}
  State SaveState() const override {
    State state;
    state.Set("value", value);
    return state;
  }
  void LoadState(const State& state) override {
    state.CheckVersion(1);
    value = state.Get<int64_t>("value");
    log_.push_back(name_);
  }
  int64_t value = 0;

 private:
  std::vector<std::string>& log_;
  std::string name_;
};

struct Rig {
  Rig() {
    state.AddTensors({"model",
                      [this] { return HeldTensors{.whole = {{"w", weight}}}; },
                      [this](const std::vector<NamedTensor>& saved) {
                        weight.copy_(saved.at(0).tensor);
                        log.emplace_back("model");
                      }});
    state.Add("schedules", plain);
    state.AddMoving("clock", moving);
    state.AddMeans("means", means);
    state.AddWindow("gradients", window);
    state.Add("callback X", optional, RunState::IfMissing::kWarn);
  }

  std::unique_ptr<Backend> backend = MakeBackend("sp");
  std::vector<std::string> log;
  at::Tensor weight = at::zeros({2});
  Part plain{log, "plain"}, moving{log, "moving"}, window{log, "window"},
      optional{log, "optional"};
  MetricMeans means;
  RunState state{*backend};
};

// The window started at 1; the checkpoint is made at 2, within it.
Checkpoint WithinWindow(Rig& rig) {
  rig.plain.value = rig.moving.value = rig.window.value = 1;
  rig.means.Add("loss", at::full({}, 1.0), 1);
  rig.state.MarkWindowStart();
  rig.plain.value = rig.moving.value = rig.window.value = 2;
  rig.means.Add("loss", at::full({}, 3.0), 1);
  rig.weight.fill_(7);
  Checkpoint checkpoint;
  rig.state.Collect(/*in_window=*/true, checkpoint);
  return checkpoint;
}

TEST(RunStateTest, LoadsAllPartsInTheOrderOfAdding) {
  Rig before, after;
  const Checkpoint checkpoint = WithinWindow(before);
  after.state.Load(checkpoint);
  EXPECT_EQ(after.plain.value, 2);
  EXPECT_EQ(after.moving.value, 2);
  EXPECT_EQ(after.window.value, 2);
  EXPECT_EQ(after.means.Read().at("loss"), 2);
  EXPECT_EQ(after.weight[0].item<float>(), 7);
  EXPECT_THAT(after.log,
              ElementsAre("model", "plain", "moving", "window", "optional"));
}

TEST(RunStateTest, OtherRanksRepeatTheWindow) {
  Rig before, after;
  Checkpoint checkpoint = WithinWindow(before);
  checkpoint.world_size = 2;
  after.state.Load(checkpoint);
  EXPECT_EQ(after.plain.value, 2);
  EXPECT_EQ(after.moving.value, 1);
  EXPECT_EQ(after.window.value, 0);
  EXPECT_EQ(after.means.Read().at("loss"), 1);
}

TEST(RunStateTest, PartsAreThereAsTheyWereBeforeTheEnd) {
  Rig before;
  before.plain.value = before.moving.value = 1;
  before.state.MarkEnd();
  before.plain.value = before.moving.value = 2;
  before.state.MarkEnd();  // too late
  before.means.Add("loss", at::full({}, 3.0), 1);
  before.weight.fill_(7);
  Checkpoint checkpoint;
  before.state.Collect(/*in_window=*/false, checkpoint);
  for (const bool before_end : {false, true}) {
    Rig after;
    after.state.Load(checkpoint, /*fresh=*/{}, before_end);
    EXPECT_EQ(after.plain.value, before_end ? 1 : 2);
    EXPECT_EQ(after.moving.value, before_end ? 1 : 2);
    EXPECT_EQ(after.means.Read().at("loss"), 3);
    EXPECT_EQ(after.weight[0].item<float>(), 7);
  }
  Rig fresh;
  fresh.state.Load(checkpoint, {"schedules"}, /*before_end=*/true);
  EXPECT_EQ(fresh.plain.value, 0);
}

TEST(RunStateTest, AHeavyPartHasOneState) {
  class Average final : public Stateful {
   public:
    State SaveState() const override {
      State state;
      SetTensor(state, "average", at::zeros({3}));
      return state;
    }
    void LoadState(const State&) override {}
  };
  Rig rig;
  Average average, generator;
  rig.state.Add("callback Ema", average);
  rig.state.AddMoving("rng", generator);
  rig.state.MarkEnd();
  Checkpoint checkpoint;
  rig.state.Collect(/*in_window=*/false, checkpoint);
  EXPECT_TRUE(checkpoint.parts.contains("callback Ema"));
  EXPECT_FALSE(checkpoint.parts.contains("before end callback Ema"));
  EXPECT_TRUE(checkpoint.parts.contains("before end rng"));
}

TEST(RunStateTest, OutsideOfAWindowNothingIsSavedTwice) {
  Rig rig;
  Checkpoint checkpoint;
  rig.state.Collect(/*in_window=*/false, checkpoint);
  std::vector<std::string> names;
  for (const auto& [name, part] : checkpoint.parts) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("callback X", "clock", "means", "schedules"));
}

TEST(RunStateTest, AMissingPartIsAnErrorOrNot) {
  Rig before, after;
  Checkpoint checkpoint = WithinWindow(before);
  checkpoint.parts.erase("callback X");
  after.state.Load(checkpoint);
  EXPECT_EQ(after.plain.value, 2);
  checkpoint.parts.erase("schedules");
  after.plain.value = 5;
  after.log.clear();
  EXPECT_THAT(ErrorOf<c10::ValueError>([&] { after.state.Load(checkpoint); }),
              HasSubstr("the checkpoint has no part \"schedules\""));
  EXPECT_THAT(after.log, ElementsAre());  // nothing was changed
  checkpoint.tensors.clear();
  EXPECT_THAT(ErrorOf<c10::ValueError>([&] { after.state.Load(checkpoint); }),
              HasSubstr("the checkpoint has no tensors \"model\""));
}

TEST(RunStateTest, APartThatDoesNotFitIsNamed) {
  Rig before, after;
  Checkpoint checkpoint = WithinWindow(before);
  checkpoint.parts["schedules"] = State(/*version=*/9);
  EXPECT_THAT(ErrorOf<c10::ValueError>([&] { after.state.Load(checkpoint); }),
              HasSubstr("\"schedules\": State: version 9"));
}

}  // namespace
}  // namespace trainyard
