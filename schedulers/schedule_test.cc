#include "schedulers/schedule.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

#include "schedulers/cosine.h"
#include "trainer/train_unit.h"

namespace trainyard {
namespace {

TEST(ScheduleTest, HeaderExample) {
  ScheduleFactory make = Cosine({.warmup = Epochs(1), .min_ratio = 0.01});
  RunLength run{.num_epochs = 5, .updates_per_epoch = 469};
  run.total_updates = 5 * 469;
  std::unique_ptr<Schedule> schedule = make(run);
  EXPECT_EQ(schedule->ValueAt(0, 3e-3), 0.0);
  EXPECT_EQ(schedule->ValueAt(469, 3e-3), 3e-3);
}

TEST(ScheduleTest, AFactoryServesSeveralRuns) {
  const ScheduleFactory make = Cosine({.warmup = Epochs(1)});
  const auto small = make({.updates_per_epoch = 10, .total_updates = 20});
  const auto large = make({.updates_per_epoch = 100, .total_updates = 200});
  EXPECT_EQ(small->ValueAt(5, 1.0), 0.5);
  EXPECT_EQ(large->ValueAt(50, 1.0), 0.5);
}

TEST(ScheduleTest, AUserWritesOneInThreeLines) {
  class Halving final : public Schedule {
   public:
    double ValueAt(int64_t update, double base) const override {
      return base / static_cast<double>(int64_t{1} << update);
    }
  };
  const ScheduleFactory make = [](const RunLength&) {
    return std::make_unique<Halving>();
  };
  EXPECT_EQ(make({})->ValueAt(3, 16.0), 2.0);
}

}  // namespace
}  // namespace trainyard
