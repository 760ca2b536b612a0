#include "tools/inspect/named_schedule.h"

#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "schedulers/schedule.h"
#include "tools/cli/settings.h"
#include "tools/testing/error_of.h"

namespace trainyard {
namespace {

constexpr RunLength kRun{
    .num_epochs = 10, .updates_per_epoch = 10, .total_updates = 100};

double ValueAt(const std::string& name, const std::vector<std::string>& given,
               int update) {
  Settings settings(given);
  const ScheduleFactory make = NamedSchedule(name, settings);
  settings.CheckAllUsed(name);
  return make(kRun)->ValueAt(update, 1.0);
}

TEST(NamedScheduleTest, HeaderExample) {
  Settings settings({"--min_ratio=0.1"});
  ScheduleFactory make = NamedSchedule("cosine", settings);
  EXPECT_EQ(make(kRun)->ValueAt(100, 2.0), 0.2);
}

struct Case {
  std::string name;
  std::vector<std::string> settings;
  int update;
  double value;
};

class NamedScheduleCaseTest : public ::testing::TestWithParam<Case> {};

TEST_P(NamedScheduleCaseTest, IsMadeFromItsSettings) {
  EXPECT_NEAR(ValueAt(GetParam().name, GetParam().settings, GetParam().update),
              GetParam().value, 1e-15);
}

INSTANTIATE_TEST_SUITE_P(
    All, NamedScheduleCaseTest,
    ::testing::Values(
        Case{"constant", {"--ratio=0.5", "--length_epochs=1"}, 9, 0.5},
        Case{"cosine", {"--cooldown_updates=50", "--min_value=0.2"}, 50, 0.2},
        Case{"cosine_annealing", {"--half_period_updates=20"}, 20, 0.0},
        Case{"cyclic", {"--peak_ratio=3", "--up_updates=10"}, 10, 3.0},
        Case{"exponential", {"--gamma=0.5", "--every_epochs=1"}, 20, 0.25},
        Case{"inverse_sqrt", {"--warmup_updates=10"}, 40, 0.5},
        Case{"linear", {"--end_ratio=0.5"}, 50, 0.75},
        Case{"multi_step", {"--at_epochs=1,2", "--gamma=0.5"}, 20, 0.25},
        Case{"noam", {"--d_model=4", "--warmup_updates=25"}, 24, 0.1},
        Case{"one_cycle", {"--div_factor=4", "--pct_start=0.5"}, 49, 1.0},
        Case{"one_cycle_momentum", {"--base_momentum=0.7"}, 29, 0.7},
        Case{"polynomial", {"--power=2"}, 50, 0.25},
        Case{"step", {"--every_epochs=3"}, 30, 0.1},
        Case{"warm_restarts", {"--period_updates=10"}, 90, 1.0},
        Case{"warmup_stable_decay",
             {"--decay_epochs=5", "--shape=linear"},
             75,
             0.5}),
    [](const auto& tested) { return tested.param.name; });

TEST(NamedScheduleTest, EveryDescribedScheduleIsTested) {
  std::istringstream lines(DescribeSchedules());
  int count = 0;
  for (std::string line; std::getline(lines, line);) ++count;
  EXPECT_EQ(count, 15);
}

TEST(NamedScheduleTest, AnyScheduleCanHaveWarmUp) {
  const std::vector<std::string> given = {
      "--every_epochs=3", "--warmup_epochs=1", "--warmup_start_ratio=0.5"};
  EXPECT_EQ(ValueAt("step", given, 0), 0.5);
  EXPECT_EQ(ValueAt("step", given, 39), 1.0);
  EXPECT_EQ(ValueAt("step", given, 40), 0.1);
}

std::string ScheduleError(const std::string& name,
                          const std::vector<std::string>& given) {
  return ErrorOf([&] { ValueAt(name, given, 0); });
}

TEST(NamedScheduleTest, ErrorsSayWhatIsWanted) {
  EXPECT_EQ(ScheduleError("cosin", {}),
            "--schedule is 'cosin', want one of constant cosine "
            "cosine_annealing cyclic exponential inverse_sqrt linear "
            "multi_step noam one_cycle one_cycle_momentum polynomial step "
            "warm_restarts warmup_stable_decay");
  EXPECT_EQ(ScheduleError("one_cycle", {"--shape=round"}),
            "--shape is 'round', want one of cosine, linear");
  EXPECT_EQ(ScheduleError("step", {"--every_epochs=1", "--min_ratio=0.1"}),
            "--min_ratio is not a setting of step; did you mean --gamma? It "
            "takes --every_epochs --every_updates --gamma --warmup_epochs "
            "--warmup_updates");
  EXPECT_EQ(ScheduleError("cosine", {"--warmup_epochs=11"}),
            "Cosine: warmup is 11 epochs (110 updates), longer than the run of "
            "100 updates");
}

}  // namespace
}  // namespace trainyard
