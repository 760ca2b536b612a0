// The examples of this folder's headers, as they stand there: they compile, and
// what they give can be asked. tools/lint/examples.py compares the two.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "schedulers/chained.h"
#include "schedulers/constant.h"
#include "schedulers/cosine.h"
#include "schedulers/cosine_annealing.h"
#include "schedulers/cyclic.h"
#include "schedulers/exponential.h"
#include "schedulers/inverse_sqrt.h"
#include "schedulers/linear.h"
#include "schedulers/metric_schedule.h"
#include "schedulers/multi_step.h"
#include "schedulers/noam.h"
#include "schedulers/option_check.h"
#include "schedulers/per_group.h"
#include "schedulers/plateau.h"
#include "schedulers/polynomial.h"
#include "schedulers/ramp.h"
#include "schedulers/schedule.h"
#include "schedulers/sequential.h"
#include "schedulers/step.h"
#include "schedulers/stepper.h"
#include "schedulers/testing/every_schedule.h"
#include "schedulers/warm_restarts.h"
#include "schedulers/warmup.h"
#include "schedulers/warmup_stable_decay.h"
#include "trainer/train_unit.h"

namespace trainyard {
namespace {

TEST(HeaderExamplesTest, EveryFactoryIsMade) {
  Chained({Linear({.start_ratio = 0.1, .end_ratio = 1, .length = Epochs(1)}),
           Step({.every = Epochs(30)})});
  Constant();
  Constant({.ratio = 0.1, .length = Updates(500)});
  Cosine({.warmup = Epochs(1), .min_ratio = 0.01});
  CosineAnnealing({.half_period = Epochs(10), .min_ratio = 0.01});
  Cyclic({.peak_ratio = 10, .up = Epochs(2), .mode = CyclicMode::kTriangular2});
  Exponential({.gamma = 0.999});
  Exponential({.gamma = 0.9, .every = Epochs(1)});
  InverseSqrt({.warmup = Updates(4000)});
  Linear();
  Linear({.start_ratio = 0.1, .end_ratio = 1, .length = Epochs(1)});
  MultiStep({.at = Epochs({30, 60, 80}), .gamma = 0.1});
  Noam({.d_model = 512, .warmup = Updates(4000)});
  Polynomial({.power = 2, .min_ratio = 0.01});
  Sequential({{Linear({.start_ratio = 0.1, .end_ratio = 1}), Epochs(1)},
              {Constant(), Epochs(3)},
              {CosineAnnealing()}});
  Step({.every = Epochs(30), .gamma = 0.1});
  WarmRestarts({.period = Epochs(1), .period_mul = 2});
  Warmup({.length = Epochs(1)}, Step({.every = Epochs(30)}));
  WarmupStableDecay({.warmup = Updates(500), .decay = Epochs(0.5)});
}

TEST(HeaderExamplesTest, AMetricScheduleObserves) {
  const double eval_loss = 1;
  const int64_t update = 0;
  Plateau plateau({.factor = 0.5, .patience = 2});
  plateau.Observe(eval_loss);
  const double lr = plateau.ValueAt(update, 3e-3);
  EXPECT_EQ(lr, 3e-3);
  std::unique_ptr<MetricSchedule> schedule =
      std::make_unique<Plateau>(PlateauOptions{.patience = 2});
  schedule->Observe(eval_loss);
  EXPECT_EQ(schedule->ValueAt(update, 3e-3), lr);
}

TEST(HeaderExamplesTest, AFactoryMakesAScheduleForARun) {
  ScheduleFactory make = Cosine({.warmup = Epochs(1), .min_ratio = 0.01});
  RunLength run{.num_epochs = 5, .updates_per_epoch = 469};
  run.total_updates = 5 * 469;
  std::unique_ptr<Schedule> schedule = make(run);
  const double lr = schedule->ValueAt(0, 3e-3);
  EXPECT_LT(lr, 3e-3);
}

TEST(HeaderExamplesTest, EachGroupHasASchedule) {
  const RunLength run{
      .num_epochs = 1, .updates_per_epoch = 10, .total_updates = 10};
  const int64_t update = 9;
  const double base_of_group_1 = 0.5;
  GroupSchedules one = Cosine();
  GroupSchedules each = PerGroup({Cosine(), Constant()});
  std::vector<std::unique_ptr<Schedule>> schedules = each.Resolve(run, 2);
  schedules[1]->ValueAt(update, base_of_group_1);
  EXPECT_EQ(schedules.size(), 2);
  EXPECT_EQ(one.Resolve(run, 2).size(), 2);
}

double WarmupOr(int64_t updates, int64_t update, double base, double later) {
  const Ramp warmup(updates, {.ratio = 0.1});
  if (update < warmup.updates()) return warmup.ValueAt(update, base, base);
  return later;
}

TEST(HeaderExamplesTest, ARampEnds) { EXPECT_EQ(WarmupOr(3, 3, 1, 7), 7); }

TEST(HeaderExamplesTest, OptionsAreChecked) {
  const RunLength run{
      .num_epochs = 2, .updates_per_epoch = 10, .total_updates = 20};
  const CosineOptions options{.warmup = Epochs(1)};
  const OptionCheck check("Cosine");
  check.Positive("k_decay", options.k_decay);
  int64_t warmup = check.Updates("warmup", options.warmup, run);
  EXPECT_EQ(warmup, 10);
}

TEST(HeaderExamplesTest, EveryScheduleIsListed) {
  int count = 0;
  for (const NamedFactory& tested : EverySchedule()) {
    std::unique_ptr<Schedule> schedule = tested.make(kEveryRun);
    count += schedule != nullptr;
  }
  EXPECT_GT(count, 15);
}

}  // namespace
}  // namespace trainyard
