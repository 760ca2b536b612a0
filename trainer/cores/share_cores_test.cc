#include "trainer/cores/share_cores.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <vector>

#include "trainer/cores/busy_program.h"
#include "trainer/cores/core_use.h"

// From libgomp, which libtorch links.
extern "C" void GOMP_parallel(void (*run)(void*), void* data, unsigned threads,
                              unsigned flags);

namespace trainyard {
namespace {

// Threads that work in step, one per core.
void WorkInStep() {
  at::get_num_threads();  // links libtorch
  const auto part = [](void*) {
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
    while (std::chrono::steady_clock::now() < end) {
    }
  };
  GOMP_parallel(part, nullptr, static_cast<unsigned>(AllowedCores().size()), 0);
}

class ShareCoresTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* const name :
         {"TRAINYARD_SHARE_CORES", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT",
          "OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY"}) {
      unsetenv(name);
    }
  }
};

TEST_F(ShareCoresTest, BesideOtherProgramsThreadsMoveToHalfTheCores) {
  const std::vector<int> all = AllowedCores();
  if (all.size() < 2) GTEST_SKIP() << "there is one core";
  const std::vector<BusyProgram> busy(all.size());
  {
    const ShareCores share;
    while (share.sharing() != CoreSharing::kHalfTheCores) WorkInStep();
    EXPECT_EQ(AllowedCores().size(), (all.size() + 1) / 2);
  }
  EXPECT_EQ(AllowedCores(), all);
}

TEST_F(ShareCoresTest, WhoBindsThreadsKeepsTheCores) {
  const std::vector<int> all = AllowedCores();
  if (all.size() < 2) GTEST_SKIP() << "there is one core";
  const std::vector<BusyProgram> busy(all.size());
  const ShareCores share({.fewer_cores = false});
  while (share.sharing() != CoreSharing::kHalfTheCores) WorkInStep();
  EXPECT_EQ(AllowedCores(), all);
}

TEST_F(ShareCoresTest, VariablesOfTheEnvironmentDecide) {
  EXPECT_TRUE(ShareCoresFromEnvironment().short_waits);
  EXPECT_TRUE(ShareCoresFromEnvironment().fewer_cores);

  setenv("OMP_WAIT_POLICY", "ACTIVE", 1);
  EXPECT_FALSE(ShareCoresFromEnvironment().short_waits);
  EXPECT_TRUE(ShareCoresFromEnvironment().fewer_cores);

  setenv("OMP_PROC_BIND", "true", 1);
  EXPECT_FALSE(ShareCoresFromEnvironment().fewer_cores);

  unsetenv("OMP_WAIT_POLICY");
  unsetenv("OMP_PROC_BIND");
  setenv("TRAINYARD_SHARE_CORES", "0", 1);
  EXPECT_FALSE(ShareCoresFromEnvironment().short_waits);
  EXPECT_FALSE(ShareCoresFromEnvironment().fewer_cores);
  setenv("TRAINYARD_SHARE_CORES", "1", 1);
  EXPECT_TRUE(ShareCoresFromEnvironment().short_waits);
}

}  // namespace
}  // namespace trainyard
