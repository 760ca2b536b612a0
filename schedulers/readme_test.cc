// The examples of schedulers/README.md, compiled and run. The last test holds
// the two files together.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "schedulers/constant.h"
#include "schedulers/cosine.h"
#include "schedulers/lambda.h"
#include "schedulers/linear.h"
#include "schedulers/multi_step.h"
#include "schedulers/option_check.h"
#include "schedulers/per_group.h"
#include "schedulers/plateau.h"
#include "schedulers/schedule.h"
#include "schedulers/sequential.h"
#include "schedulers/stepper.h"
#include "schedulers/warmup.h"
#include "tools/testing/error_of.h"
#include "trainer/train_unit.h"

namespace trainyard {
namespace {

class ReadmeTest : public ::testing::Test {
 protected:
  void SetLearningRate(double lr) { set_.push_back(lr); }
  void SetLearningRates(const std::vector<double>& lrs) {
    set_.insert(set_.end(), lrs.begin(), lrs.end());
  }

  std::vector<double> set_;
};

TEST_F(ReadmeTest, ALoopOfOnesOwn) {
  const RunLength run{
      .num_epochs = 5, .updates_per_epoch = 469, .total_updates = 2345};
  const ScheduleFactory make = Cosine({.warmup = Epochs(1), .min_ratio = 0.01});
  const std::unique_ptr<Schedule> schedule = make(run);
  for (int64_t update = 0; update < run.total_updates; ++update) {
    SetLearningRate(schedule->ValueAt(update, 3e-3));
  }
  ASSERT_EQ(set_.size(), 2345u);
  EXPECT_EQ(*std::max_element(set_.begin(), set_.end()), 3e-3);
}

TEST_F(ReadmeTest, Composed) {
  ScheduleFactory steps =
      Warmup({.length = Epochs(1)}, MultiStep({.at = Epochs({30, 60, 80})}));
  ScheduleFactory parts =
      Sequential({{Linear({.start_ratio = 0.1, .end_ratio = 1}), Epochs(1)},
                  {Constant(), Epochs(3)},
                  {Cosine()}});
  const RunLength run{.updates_per_epoch = 10, .total_updates = 1000};
  EXPECT_EQ(steps(run)->ValueAt(310, 1.0), 0.1);
  EXPECT_EQ(parts(run)->ValueAt(40, 1.0), 1.0);
}

TEST_F(ReadmeTest, PerGroupAndStepper) {
  const RunLength run{.total_updates = 4};
  ScheduleStepper lr(PerGroup({Cosine(), Constant()}), run, {3e-3, 1e-4});
  while (lr.updates() < run.total_updates) {
    SetLearningRates(lr.values());
    lr.Step();
  }
  ASSERT_EQ(set_.size(), 8u);
  EXPECT_EQ(set_[0], 3e-3);
  EXPECT_EQ(set_[7], 1e-4);
}

TEST_F(ReadmeTest, APlateau) {
  const double eval_loss = 0.5;
  const int64_t update = 7;
  Plateau plateau({.factor = 0.5, .patience = 2});
  plateau.Observe(eval_loss);
  SetLearningRate(plateau.ValueAt(update, 3e-3));
  PlateauState saved = plateau.state();
  plateau.Restore(saved);
  EXPECT_THAT(set_, ::testing::ElementsAre(3e-3));
}

TEST_F(ReadmeTest, AFunctionOfOnesOwn) {
  ScheduleFactory halving = Lambda([](int64_t update, double base) {
    return update < 1000 ? base : base / 2;
  });
  EXPECT_EQ(halving({})->ValueAt(1000, 1.0), 0.5);
}

class Triangle final : public Schedule {
 public:
  explicit Triangle(int64_t peak) : peak_(peak) {}
  double ValueAt(int64_t update, double base) const override {
    const double distance = std::abs(static_cast<double>(update - peak_));
    return base * std::max(0.0, 1 - distance / static_cast<double>(peak_));
  }

 private:
  int64_t peak_;
};

ScheduleFactory MakeTriangle(Duration peak) {
  const OptionCheck check("Triangle");
  check.ResolvablePeriod("peak", peak);
  return [=](const RunLength& run) {
    return std::make_unique<Triangle>(check.Period("peak", peak, run));
  };
}

TEST_F(ReadmeTest, AClassOfOnesOwn) {
  const auto schedule = MakeTriangle(Epochs(1))({.updates_per_epoch = 10});
  EXPECT_EQ(schedule->ValueAt(5, 1.0), 0.5);
  EXPECT_EQ(schedule->ValueAt(15, 1.0), 0.5);
  EXPECT_EQ(ErrorOf([] { MakeTriangle(Seconds(3)); }),
            "Triangle: peak is 3 seconds, want updates or epochs");
}

}  // namespace
}  // namespace trainyard
