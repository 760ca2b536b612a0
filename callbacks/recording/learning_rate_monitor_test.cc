#include "callbacks/recording/learning_rate_monitor.h"

#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "callbacks/testing/fake_run.h"
#include "trainer/optim/adamw.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

at::Tensor Parameter() { return at::zeros({2}).requires_grad_(); }

// Halves the rate after each update, as a schedule would.
class Halving final : public Callback {
 public:
  explicit Halving(Optimizer& optimizer) : optimizer_(optimizer) {}
  void OnUpdateEnd(const UpdateEnd&, Control&) override {
    for (size_t i = 0; i < optimizer_.num_groups(); ++i) {
      optimizer_.Field(i, "lr") /= 2;
    }
  }

 private:
  Optimizer& optimizer_;
};

TEST(LearningRateMonitorTest, HeaderExample) {
  AdamW optimizer(std::vector<at::Tensor>{Parameter()}, {.lr = 8});
  FakeRun run({.num_epochs = 2, .batches_per_epoch = 2});
  run.Add(LearningRateMonitor(optimizer));
  run.Add(Halving(optimizer));
  run.Play();
  // Updates at 8, 4 | 2, 1.
  EXPECT_THAT(run.history().Values("lr"), ElementsAre(4, 1));
}

TEST(LearningRateMonitorTest, GroupsAndFieldsHaveNamesOfTheirOwn) {
  AdamW optimizer({ParamGroup{.params = {{"a", Parameter()}}},
                   ParamGroup{.params = {{"b", Parameter()}},
                              .overrides = {{"weight_decay", 0.5}}}},
                  {.lr = 8, .weight_decay = 0.25});
  FakeRun run({.num_epochs = 1, .batches_per_epoch = 1});
  run.Add(LearningRateMonitor(optimizer, {.fields = {"lr", "weight_decay"}}));
  run.Play();
  EXPECT_THAT(run.history().Values("lr_0"), ElementsAre(8));
  EXPECT_THAT(run.history().Values("lr_1"), ElementsAre(8));
  EXPECT_THAT(run.history().Values("weight_decay_0"), ElementsAre(0.25));
  EXPECT_THAT(run.history().Values("weight_decay_1"), ElementsAre(0.5));
}

TEST(LearningRateMonitorTest, RefusesAFieldThatIsNotThere) {
  AdamW optimizer(std::vector<at::Tensor>{Parameter()});
  EXPECT_THROW(LearningRateMonitor(optimizer, {.fields = {"momentum"}}),
               c10::Error);
}

}  // namespace
}  // namespace trainyard
