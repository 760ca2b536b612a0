#include "trainer/cores/short_waits.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

// From libgomp, which libtorch links.
extern "C" void GOMP_parallel(void (*run)(void*), void* data, unsigned threads,
                              unsigned flags);
extern "C" int omp_get_num_procs();

namespace trainyard {
namespace {

double ProcessorSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_nsec) * 1e-9;
}

// How long the second thread of a team occupies a core while it waits for work.
double WaitingSeconds() {
  at::get_num_threads();  // links libtorch
  double least = 1;
  for (int i = 0; i < 10; ++i) {
    GOMP_parallel([](void*) {}, nullptr, 2, 0);
    const double start = ProcessorSeconds();
    usleep(50000);
    least = std::min(least, ProcessorSeconds() - start);
  }
  return least;
}

TEST(ShortWaitsTest, ThreadsSleepWhileItExists) {
  if (omp_get_num_procs() < 2) GTEST_SKIP() << "waits are short on one core";
  // 300,000 turns of a loop, which take a nanosecond at least.
  EXPECT_GT(WaitingSeconds(), 300e-6);
  {
    const ShortWaits short_waits;
    EXPECT_LT(WaitingSeconds(), 200e-6);
  }
  EXPECT_GT(WaitingSeconds(), 300e-6);
}

}  // namespace
}  // namespace trainyard
