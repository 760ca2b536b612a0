#include "backends/processes/call_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <source_location>
#include <stdexcept>
#include <vector>

namespace trainyard {
namespace {

using ::testing::HasSubstr;

TEST(CallLogTest, KeepsWhatWasCalledWhereAndWhen) {
  CallLog log("main");
  const auto before = std::chrono::system_clock::now();
  {
    const CallLog::Scope call(log, {.what = "Barrier"});
  }
  const unsigned line = __LINE__ - 2;
  const std::vector<LoggedCall> calls = log.Read();
  ASSERT_EQ(calls.size(), 1);
  EXPECT_EQ(calls[0].number, 1);
  EXPECT_STREQ(calls[0].subject.what, "Barrier");
  EXPECT_THAT(calls[0].place.file_name(), HasSubstr("call_log_test.cc"));
  EXPECT_EQ(calls[0].place.line(), line);
  EXPECT_GE(calls[0].started, before);
  EXPECT_GE(calls[0].ended, calls[0].started);
  EXPECT_FALSE(calls[0].failed);
}

TEST(CallLogTest, HeaderExample) {
  const std::source_location place = std::source_location::current();
  CallLog log("main");
  {
    const CallLog::Scope call(log, {.what = "Barrier"}, place);
    EXPECT_EQ(log.thread(), "main");
  }
  const std::vector<LoggedCall> calls = log.Read();
  EXPECT_EQ(calls[0].place.line(), place.line());
}

TEST(CallLogTest, CallThatGoesOnHasNoEnd) {
  CallLog log("main");
  const CallLog::Scope call(log, {.what = "Barrier"});
  EXPECT_EQ(log.Read().at(0).ended, LoggedCall::Time());
}

TEST(CallLogTest, ExceptionIsAFailure) {
  CallLog log("main");
  try {
    const CallLog::Scope call(log, {.what = "Barrier"});
    throw std::runtime_error("no");
  } catch (const std::runtime_error&) {
    // As on the way out of another error.
    const CallLog::Scope call(log, {.what = "Any"});
  }
  EXPECT_TRUE(log.Read().at(0).failed);
  EXPECT_NE(log.Read().at(0).ended, LoggedCall::Time());
  EXPECT_FALSE(log.Read().at(1).failed);
}

TEST(CallLogTest, CallWithinACallIsPartOfIt) {
  CallLog log("main");
  {
    const CallLog::Scope outer(log, {.what = "AllReduce"});
    {
      const CallLog::Scope inner(log, {.what = "comparing"});
    }
    ASSERT_EQ(log.Read().size(), 1);
    EXPECT_EQ(log.Read()[0].ended, LoggedCall::Time());
  }
  ASSERT_EQ(log.Read().size(), 1);
  EXPECT_NE(log.Read()[0].ended, LoggedCall::Time());
}

TEST(CallLogTest, OldCallsAreOverwritten) {
  CallLog log("main");
  const auto all = static_cast<int64_t>(CallLog::kKept) + 10;
  for (int64_t i = 0; i < all; ++i) {
    const CallLog::Scope call(log, {.what = "Any"});
  }
  const std::vector<LoggedCall> calls = log.Read();
  ASSERT_EQ(calls.size(), CallLog::kKept);
  EXPECT_EQ(calls.front().number, 11);
  EXPECT_EQ(calls.back().number, all);
}

TEST(CallLogTest, DescribesTensors) {
  EXPECT_EQ(DescribeTensor({.what = "Any"}), "");
  EXPECT_EQ(DescribeTensor({.what = "AllReduce", .type = "Float"}), "Float []");
  EXPECT_EQ(
      DescribeTensor(
          {.what = "AllReduce", .type = "Float", .dim = 2, .sizes = {64, 10}}),
      "Float [64, 10]");
  EXPECT_EQ(DescribeTensor({.what = "AllReduce",
                            .type = "Long",
                            .dim = 7,
                            .sizes = {1, 2, 3, 4, 5, 6}}),
            "Long [1, 2, 3, 4, 5, 6, …]");
}

}  // namespace
}  // namespace trainyard
