#include "backends/slow_bf16.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace trainyard {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

TEST(SlowBf16Test, WarnsOfACpuWithoutInstructions) {
  EXPECT_THAT(SlowBf16Warning(c10::kBFloat16, c10::Device(c10::kCPU), false),
              Optional(HasSubstr("use the backend without \"-amp\"")));
}

TEST(SlowBf16Test, SaysNothingWhereItIsFast) {
  const c10::Device cpu(c10::kCPU);
  EXPECT_EQ(SlowBf16Warning(c10::kBFloat16, cpu, true), std::nullopt);
  EXPECT_EQ(SlowBf16Warning(c10::kHalf, cpu, false), std::nullopt);
  EXPECT_EQ(SlowBf16Warning(c10::kBFloat16, c10::Device(c10::kCUDA, 0), false),
            std::nullopt);
}

TEST(SlowBf16Test, TheProcessorIsAsked) {
  std::ifstream file("/proc/cpuinfo");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.find("flags\t") == std::string::npos) GTEST_SKIP() << "not x86-64";
  EXPECT_EQ(CpuHasBf16(), text.find(" avx512_bf16") != std::string::npos);
}

}  // namespace
}  // namespace trainyard
