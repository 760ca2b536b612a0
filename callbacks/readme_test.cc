// The examples of callbacks/README.md, compiled and run. The last test holds
// that the README has no others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "callbacks/callback.h"
#include "callbacks/filters.h"
#include "callbacks/printing/epoch_table.h"
#include "callbacks/printing/progress_bar.h"
#include "callbacks/stopping/early_stopping.h"
#include "callbacks/testing/fake_run.h"

namespace trainyard {
namespace {

// Stops once the model is good enough, and says in the history when it was.
class GoodEnough final : public Callback {
 public:
  explicit GoodEnough(double loss) : loss_(loss) {}

  void OnEpochEnd(const EpochEnd& e, Control& control) override {
    const bool reached = e.history.Latest("eval_loss") <= loss_;
    e.history.Update("good_enough", reached ? 1 : 0);
    if (reached) control.RequestStop("good enough");
  }

 private:
  double loss_;
};

TEST(ReadmeTest, TheUsualOnes) {
  FakeRun trainer;
  trainer.Add(ProgressBar());
  trainer.Add(EpochTable());
  trainer.Add(EarlyStopping({.metric = "eval_loss", .patience = 3}));
  EXPECT_EQ(trainer.Play(), RunEnding::kFinished) << trainer.message();
}

// What fake_run.h shows: nothing improves, so the second epoch is the last.
TEST(ReadmeTest, AFakeRun) {
  FakeRun run({.num_epochs = 3});
  run.Add(EarlyStopping({.patience = 1}));
  EXPECT_EQ(run.Play(), RunEnding::kStopped);
  EXPECT_EQ(run.clock().epoch(), 2);
}

TEST(ReadmeTest, AFunctionWithAFilter) {
  FakeRun trainer({.batch_size = 8});
  std::vector<int64_t> samples;
  trainer.Add(On<StepEnd>([&](const StepEnd& e, Control&) {
                samples.push_back(e.clock.samples());
              }),
              {.filter = EveryNth(4)});
  trainer.Play();
  EXPECT_THAT(samples, ::testing::ElementsAre(32, 64));
}

TEST(ReadmeTest, OneOfYourOwn) {
  FakeRun run({.num_epochs = 5, .eval = [](int64_t epoch) {
                 return Metrics{{"eval_loss", 1.0 / epoch}};
               }});
  run.Add(GoodEnough(0.5));
  EXPECT_EQ(run.Play(), RunEnding::kStopped);
  EXPECT_EQ(run.message(), "good enough");
  EXPECT_THAT(run.history().Values("good_enough"),
              ::testing::ElementsAre(0, 1));
}

}  // namespace
}  // namespace trainyard
