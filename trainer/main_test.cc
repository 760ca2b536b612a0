#include "trainer/main.h"

#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>

namespace trainyard {
namespace {

using ::testing::HasSubstr;
using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

TEST(MainTest, SuccessIsZeroAndSilent) {
  CaptureStderr();
  EXPECT_EQ(Main([] { return 0; }), 0);
  EXPECT_EQ(GetCapturedStderr(), "");
}

TEST(MainTest, AnExceptionIsOneLineAndOne) {
  CaptureStderr();
  EXPECT_EQ(Main([]() -> int { throw std::runtime_error("no such folder"); }),
            1);
  EXPECT_EQ(GetCapturedStderr(), "error: no such folder\n");
}

TEST(MainTest, TorchErrorsComeWithoutBacktrace) {
  CaptureStderr();
  EXPECT_EQ(Main([]() -> int { TORCH_CHECK_VALUE(false, "lr is -1"); }), 1);
  EXPECT_EQ(GetCapturedStderr(), "error: lr is -1\n");
}

TEST(MainTest, AnythingElseIsAnErrorToo) {
  CaptureStderr();
  EXPECT_EQ(Main([]() -> int { throw 7; }), 1);
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("not an exception"));
}

TEST(MainTest, SignalsOfSchedulersDoNotEndAProgramThatStartsOrEnds) {
  const auto program = [] {
    const int code = Main([] {
      raise(SIGUSR1);
      return 7;
    });
    raise(SIGUSR2);
    std::_Exit(code);
  };
  EXPECT_EXIT(program(), ::testing::ExitedWithCode(7), "");
}

TEST(MainTest, ReturnsTheProgramsCode) {
  EXPECT_EQ(Main([] { return ExitCode(RunEnding::kFinished); }), 0);
  EXPECT_EQ(Main([] { return ExitCode(RunEnding::kStopped); }), 0);
  EXPECT_EQ(Main([] { return ExitCode(RunEnding::kError); }), 1);
  EXPECT_EQ(Main([] { return ExitCode(RunEnding::kCancelled); }), 3);
}

}  // namespace
}  // namespace trainyard
