#include "trainer/cores/core_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <ctime>
#include <thread>

#include "trainer/cores/busy_program.h"

namespace trainyard {
namespace {

using ::testing::Contains;
using ::testing::Ge;
using ::testing::Le;
using ::testing::Not;
using ::testing::SizeIs;

// Seconds on cores, of all threads.
double ProcessorSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_nsec) * 1e-9;
}

double Now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void WorkFor(double seconds) {
  for (const double end = ProcessorSeconds() + seconds;
       ProcessorSeconds() < end;) {
  }
}

TEST(CoreUseTest, TheTimeOfAllThreadsIsCounted) {
  std::atomic<bool> end = false;
  CoreUseMeter meter(AllowedCores());
  const double start = Now(), used = ProcessorSeconds();
  std::thread other([&] {
    while (!end) {
    }
  });
  WorkFor(1);
  const CoreUse use = meter.Measure();
  const double cores = (ProcessorSeconds() - used) / (Now() - start);
  end = true;
  other.join();
  EXPECT_NEAR(use.run / cores, 1, 0.1);
  EXPECT_GE(use.active, 1);
}

TEST(CoreUseTest, AThreadWithoutACoreWaits) {
  // Three threads that never sleep have at most the time of the cores.
  std::atomic<bool> end = false;
  const std::vector<int> cores = AllowedCores();
  std::vector<std::thread> threads;
  CoreUseMeter meter(cores);
  const auto work = [&] {
    while (!end) {
    }
  };
  for (size_t i = 0; i < 2 * cores.size(); ++i) threads.emplace_back(work);
  CoreUse use;
  do {
    WorkFor(0.5);
    use = meter.Measure();
  } while (use.waited < 0.5 * static_cast<double>(cores.size()));
  end = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(use.run, Le(1.05 * static_cast<double>(cores.size())));
  EXPECT_THAT(use.active, Ge(static_cast<int>(cores.size())));
}

TEST(CoreUseTest, OtherProgramsAreCounted) {
  const BusyProgram busy;
  CoreUseMeter meter(AllowedCores());
  CoreUse use;
  do {
    usleep(200000);
    use = meter.Measure();
  } while (use.others < 0.3);
  EXPECT_THAT(use.busy, SizeIs(AllowedCores().size()));
  EXPECT_THAT(use.busy, Contains(Ge(0.1)));
  EXPECT_LT(use.run, 0.1) << "it is not this process";
}

TEST(CoreUseTest, AThreadThatSleepsIsNotActive) {
  CoreUseMeter meter(AllowedCores());
  usleep(500000);
  EXPECT_EQ(meter.Measure().active, 0);
}

TEST(CoreUseTest, ThreadsAreListed) {
  EXPECT_THAT(ThreadIds(), Contains(getpid()));
  EXPECT_THAT(ThreadIds(), Not(Contains(getppid())));
}

}  // namespace
}  // namespace trainyard
