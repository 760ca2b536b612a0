#include "backends/processes/rank_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <source_location>
#include <string>
#include <thread>

namespace trainyard {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;
using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

class RankRecordTest : public ::testing::Test {
 protected:
  RankRecordTest()
      : folder_(
            fs::path(::testing::TempDir()) /
            ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(folder_);
  }

  RankRecordOptions Options(std::map<std::string, std::string> variables = {}) {
    return {.rank = 1,
            .world_size = 2,
            .attempt = 3,
            .run = "n1:29500",
            .quiet = hours(1),
            .variables =
                [variables](const char* name) -> std::optional<std::string> {
              const auto found = variables.find(name);
              if (found == variables.end()) return std::nullopt;
              return found->second;
            }};
  }

  std::string File(const std::string& sub = "") const {
    return (folder_ / sub / "calls-start3-rank1.json").string();
  }

  static std::string Read(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static void WaitFor(const std::string& path) {
    while (!fs::exists(path)) std::this_thread::sleep_for(milliseconds(5));
  }

  const fs::path folder_;
};

TEST_F(RankRecordTest, HeaderExample) {
  const std::source_location place = std::source_location::current();
  RankRecord record({.rank = 0, .world_size = 2, .run = "n1:29500"});
  record.SetFolder("run/records");
  CallLog& log = record.AddThread("main");
  {
    const CallLog::Scope call(log, {.what = "Barrier"}, place);
  }
  const std::vector<LoggedCall> calls = log.Read();
  record.WriteFailure("AllReduce: rank 1 does not answer");
  EXPECT_EQ(calls.size(), 1);
}

TEST_F(RankRecordTest, WritesTheCallsOfAllThreads) {
  RankRecord record(Options());
  record.SetFolder(folder_);
  CallLog& log = record.AddThread("main");
  CallLog& other = record.AddThread("other thread 0");
  {
    const CallLog::Scope call(log, {.what = "Barrier"});
  }
  {
    const CallLog::Scope call(other, {.what = "Any"});
  }
  const CallLog::Scope open(
      log, {.what = "AllReduce", .type = "Float", .dim = 1, .sizes = {7}});
  EXPECT_EQ(record.WriteFailure("it took \"too\" long"), File());
  const std::string text = Read(File());
  EXPECT_THAT(
      text,
      AllOf(HasSubstr(R"("run": "n1:29500")"), HasSubstr(R"("attempt": 3)"),
            HasSubstr(R"("rank": 1)"), HasSubstr(R"("world_size": 2)"),
            HasSubstr(R"("why": "it took \"too\" long")"),
            HasSubstr(R"("what": "Barrier")"), HasSubstr(R"("what": "Any")"),
            HasSubstr(R"("of": "Float [7]")"), HasSubstr(R"("ended": null)")));
}

TEST_F(RankRecordTest, TheFirstFailureCountsAndStays) {
  {
    RankRecord record(Options());
    record.SetFolder(folder_);
    record.AddThread("main");
    record.WriteFailure("the first");
    EXPECT_EQ(record.WriteFailure("the second"), "");
  }
  EXPECT_THAT(Read(File()), HasSubstr("the first"));
}

TEST_F(RankRecordTest, FolderIsTheVariablesThenTheRunsThenTheLaunchers) {
  const std::string fixed = (folder_ / "fixed").string();
  const std::string logs = (folder_ / "logs").string();
  const auto written = [&](const std::map<std::string, std::string>& variables,
                           bool of_run) {
    RankRecord record(Options(variables));
    record.AddThread("main");
    if (of_run) record.SetFolder(folder_ / "run");
    return record.WriteFailure("why");
  };
  EXPECT_EQ(written({}, false), "");
  EXPECT_EQ(written({{"TRAINYARD_LOG_DIR", logs}}, false), File("logs"));
  EXPECT_EQ(written({{"TRAINYARD_LOG_DIR", logs}}, true), File("run"));
  EXPECT_EQ(written({{"TRAINYARD_RECORD_DIR", fixed}}, true), File("fixed"));
}

TEST_F(RankRecordTest, QuietRankWritesAndDeletesAtAGoodEnd) {
  {
    RankRecordOptions options = Options();
    options.quiet = milliseconds(1);
    RankRecord record(options);
    record.SetFolder(folder_);
    CallLog& log = record.AddThread("main");
    const CallLog::Scope call(log, {.what = "Barrier"});
    WaitFor(File());
    EXPECT_THAT(Read(File()), HasSubstr("has not begun or ended a call"));
  }
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(RankRecordTest, SignalAsks) {
  {
    RankRecord record(Options());
    record.SetFolder(folder_);
    record.AddThread("main");
    raise(SIGQUIT);
    WaitFor(File());
    EXPECT_THAT(Read(File()), HasSubstr("SIGQUIT"));
  }
  EXPECT_TRUE(fs::exists(File()));
  EXPECT_EXIT(raise(SIGQUIT), ::testing::KilledBySignal(SIGQUIT), "");
}

TEST_F(RankRecordTest, LeavesTheHandlerOfTheProgram) {
  static int calls = 0;
  signal(SIGQUIT, [](int) { ++calls; });
  {
    RankRecord record(Options());
    record.SetFolder(folder_);
    record.AddThread("main");
    raise(SIGQUIT);
    EXPECT_EQ(calls, 1);
  }
  raise(SIGQUIT);
  EXPECT_EQ(calls, 2);
  signal(SIGQUIT, SIG_DFL);
}

TEST_F(RankRecordTest, FolderThatCannotBeMadeIsNoError) {
  std::ofstream(folder_) << "a file";
  RankRecord record(Options());
  record.SetFolder(folder_);
  record.AddThread("main");
  EXPECT_EQ(record.WriteFailure("why"), "");
}

}  // namespace
}  // namespace trainyard
