#include "callbacks/recording/memory_monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <fstream>

#include "callbacks/testing/fake_run.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

TEST(MemoryMonitorTest, ReadsTheFile) {
  const std::string path = ::testing::TempDir() + "/status";
  std::ofstream(path) << "Name:\tx\nVmHWM:\t  4096 kB\nVmRSS:\t  1536 kB\n";
  FakeRun run({.num_epochs = 1});
  run.Add(MemoryMonitor({.status_file = path}));
  run.Play();
  EXPECT_EQ(run.history().Latest("memory_mb"), 1.5);
  EXPECT_EQ(run.history().Latest("memory_peak_mb"), 4);
}

// 64 MiB are taken before the second of three epochs ends, and given back
// after.
TEST(MemoryMonitorTest, SeesMemoryComeAndGo) {
  constexpr size_t kSize = 64 << 20;
  void* memory = nullptr;
  FakeRun run({.num_epochs = 3, .eval = [&](int64_t epoch) {
                 if (epoch == 2) {
                   memory = mmap(nullptr, kSize, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                   std::memset(memory, 1, kSize);
                 } else if (memory != nullptr) {
                   munmap(memory, kSize);
                 }
                 return Metrics{};
               }});
  run.Add(MemoryMonitor());
  ASSERT_EQ(run.Play(), RunEnding::kFinished) << run.message();
  const auto now = run.history().Values("memory_mb");
  const auto peak = run.history().Values("memory_peak_mb");
  EXPECT_GT(now[1], now[0] + 60);
  EXPECT_LT(now[2], now[1] - 60);
  EXPECT_GT(peak[2], now[2] + 60);
}

TEST(MemoryMonitorTest, AFileThatIsNotThereIsAnError) {
  FakeRun run;
  run.Add(MemoryMonitor({.status_file = "/no/such/file"}));
  EXPECT_EQ(run.Play(), RunEnding::kError);
  EXPECT_THAT(run.message(),
              HasSubstr("MemoryMonitor: /no/such/file does not say VmRSS"));
}

}  // namespace
}  // namespace trainyard
