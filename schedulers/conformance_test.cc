// What Schedule promises, held against every implementation. Plateau, the one
// that is no function of the update, has a test of its own.

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "schedulers/schedule.h"
#include "schedulers/testing/every_schedule.h"

namespace {

size_t allocations = 0;

}  // namespace

// Counts what the whole program allocates.
void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace trainyard {
namespace {

class ScheduleConformanceTest : public ::testing::TestWithParam<NamedFactory> {
 protected:
  std::unique_ptr<Schedule> schedule_ = GetParam().make(kEveryRun);
};

TEST_P(ScheduleConformanceTest, IsAFunctionOfItsArguments) {
  std::vector<double> forward;
  for (int64_t update = 0; update < 1200; ++update) {
    forward.push_back(schedule_->ValueAt(update, 0.1));
  }
  const std::unique_ptr<Schedule> other = GetParam().make(kEveryRun);
  for (int64_t update = 1199; update >= 0; --update) {
    schedule_->ValueAt(update, 7.0);  // another group in between
    const double expected = forward[static_cast<size_t>(update)];
    ASSERT_EQ(schedule_->ValueAt(update, 0.1), expected) << update;
    ASSERT_EQ(other->ValueAt(update, 0.1), expected) << update;
  }
}

TEST_P(ScheduleConformanceTest, ChangesDuringTheRun) {
  bool changes = false;
  for (int64_t update = 1; update < 1000; ++update) {
    changes |= schedule_->ValueAt(update, 1.0) != schedule_->ValueAt(0, 1.0);
  }
  EXPECT_TRUE(changes);
}

TEST_P(ScheduleConformanceTest, IsFiniteAndNotNegativeDuringTheRunAndAfter) {
  std::vector<int64_t> updates = {1000, 1001, 9999, 1'000'000'000'000};
  for (int64_t update = 0; update < 1000; ++update) updates.push_back(update);
  for (const int64_t update : updates) {
    for (const double base : {0.0, 1e-4, 1.0}) {
      const double value = schedule_->ValueAt(update, base);
      ASSERT_TRUE(std::isfinite(value)) << update << ", base " << base;
      ASSERT_GE(value, 0.0) << update << ", base " << base;
    }
  }
}

TEST_P(ScheduleConformanceTest, DoesNotAllocate) {
  const size_t before = allocations;
  double sum = 0;
  for (int64_t update = 0; update < 1200; ++update) {
    sum += schedule_->ValueAt(update, 0.1);
  }
  EXPECT_EQ(allocations, before);
  EXPECT_GT(sum, 0.0);
}

TEST(AllocationCountTest, SeesAnAllocation) {
  const size_t before = allocations;
  const auto schedule = EverySchedule().front().make(kEveryRun);
  EXPECT_GT(allocations, before);
}

INSTANTIATE_TEST_SUITE_P(All, ScheduleConformanceTest,
                         ::testing::ValuesIn(EverySchedule()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace trainyard
