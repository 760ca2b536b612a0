#include "tools/inspect/hang_tool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tools/inspect/hang_report.h"
#include "tools/inspect/rank_calls.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

struct Outcome {
  int code;
  std::string out;
  std::string err;
};

Outcome Hang(const std::vector<std::string>& arguments) {
  std::ostringstream out, err;
  const int code = RunHangTool(arguments, out, err);
  return {code, out.str(), err.str()};
}

RecordedCall Ended(int64_t number, const std::string& what) {
  return {.number = number,
          .what = what,
          .at = "x.cc:" + std::to_string(number),
          .started = 10.0 * static_cast<double>(number),
          .ended = 10.0 * static_cast<double>(number) + 1};
}

RecordedCall Open(int64_t number, const std::string& what) {
  RecordedCall call = Ended(number, what);
  call.ended.reset();
  return call;
}

RankCalls Record(int64_t rank, std::vector<RecordedCall> calls) {
  return {.run = "n1:1",
          .rank = rank,
          .world_size = 3,
          .written = 100,
          .threads = {{"main", std::move(calls)}}};
}

std::string Report(const std::vector<RankCalls>& records) {
  std::ostringstream out;
  PrintHang(records, out);
  return out.str();
}

TEST(HangReportTest, NamesWhoWaitsForWhom) {
  EXPECT_EQ(Report({Record(0, {Ended(1, "Any"), Open(2, "Barrier")}),
                    Record(1, {Ended(1, "Any")}),
                    Record(2, {Ended(1, "Any"), Open(2, "Barrier")})}),
            "run n1:1, attempt 0, 3 ranks; records of ranks 0, 1, 2, the last "
            "of 1970-01-01 00:01:40 UTC\n"
            "ranks 0, 2 wait in call 2, Barrier at x.cc:2, since 80.0 s\n"
            "rank 1 is between calls: call 1, Any at x.cc:1 ended 89.0 s ago\n"
            "=> ranks 0, 2 wait for rank 1\n");
}

TEST(HangReportTest, MissingRankIsAwaited) {
  EXPECT_THAT(
      Report({Record(0, {Ended(1, "Any"), Open(2, "Barrier")}),
              Record(2, {Ended(1, "Any"), Open(2, "Barrier")})}),
      AllOf(HasSubstr("\nrank 1 left no record: killed, frozen, or never "
                      "there; the last call that all ranks made is call 1, Any "
                      "at x.cc:1\n"),
            HasSubstr("\n=> ranks 0, 2 wait for rank 1\n")));
}

// One rank may have left a note before the others came.
TEST(HangReportTest, CallThatDoesNotNeedAllRanksProvesNothing) {
  EXPECT_THAT(Report({Record(0, {Ended(1, "PostNote"), Open(2, "Barrier")})}),
              HasSubstr("\nranks 1, 2 left no record: killed, frozen, or never "
                        "there\n"));
}

TEST(HangReportTest, RankThatComesWhenTheOthersHaveGivenUpIsAwaited) {
  RankCalls late = Record(1, {Open(2, "Barrier")});
  late.threads["main"][0].started = 101;
  late.written = 102;
  EXPECT_THAT(
      Report({Record(0, {Open(2, "Barrier")}), late,
              Record(2, {Open(2, "Barrier")})}),
      HasSubstr("\nranks 0, 2 wait in call 2, Barrier at x.cc:2, since 82.0 s\n"
                "rank 1 came to call 2, Barrier at x.cc:2, 81.0 s after the "
                "others, who had given up\n"
                "=> ranks 0, 2 wait for rank 1\n"));
}

TEST(HangReportTest, CallThatFailedIsOneThatWaited) {
  RecordedCall failed = Ended(2, "Barrier");
  failed.failed = true;
  EXPECT_THAT(Report({Record(0, {Ended(1, "Any"), failed}),
                      Record(1, {Ended(1, "Any")}),
                      Record(2, {Ended(1, "Any"), failed})}),
              HasSubstr("ranks 0, 2 wait in call 2"));
}

TEST(HangReportTest, FindsWhereTheCallsBeginToDiffer) {
  EXPECT_THAT(
      Report({Record(0, {Ended(1, "Any"), Ended(2, "Barrier"), Open(3, "Any")}),
              Record(1, {Ended(1, "Any"), Open(2, "AllReduce")}),
              Record(2, {Ended(1, "Any"), Ended(2, "Barrier")})}),
      AllOf(HasSubstr("the calls of the ranks differ from call 2 on:\n"
                      "  rank 1: call 2, AllReduce at x.cc:2\n"
                      "  ranks 0, 2: call 2, Barrier at x.cc:2\n"),
            HasSubstr("=> a rank has left a call out")));
  // Rows of an AllGather may differ, and places in the code.
  RecordedCall longer = Open(1, "AllGather");
  longer.of = "Float [7]";
  longer.at = "y.cc:1";
  EXPECT_THAT(Report({Record(0, {Open(1, "AllGather")}), Record(1, {longer}),
                      Record(2, {longer})}),
              HasSubstr("=> all ranks are in the same call"));
}

TEST(HangReportTest, TellsWhyARankEnded) {
  RankCalls ended = Record(1, {Ended(1, "Any")});
  ended.why = "ended: the disk is full";
  EXPECT_THAT(Report({Record(0, {Ended(1, "Any"), Open(2, "Barrier")}), ended}),
              AllOf(HasSubstr("\nrank 1 ended: the disk is full\n"),
                    HasSubstr("\n=> rank 0 waits for ranks 1, 2\n")));
}

TEST(HangReportTest, OtherThreadsAreShownIfTheyWait) {
  RankCalls first = Record(0, {Ended(1, "Any")});
  first.threads["other thread 0"] = {Ended(1, "Any")};
  RankCalls second = first;
  second.rank = 1;
  EXPECT_THAT(Report({first, second}),
              ::testing::Not(HasSubstr("other thread 0")));
  second.threads["other thread 0"] = {Ended(1, "Any"), Open(2, "Barrier")};
  EXPECT_THAT(Report({first, second}),
              HasSubstr("other thread 0:\n"
                        "rank 0 is between calls: call 1, Any"));
}

class HangToolTest : public ::testing::Test {
 protected:
  HangToolTest()
      : folder_(
            (fs::path(::testing::TempDir()) /
             ::testing::UnitTest::GetInstance()->current_test_info()->name())
                .string()) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }

  void Write(int rank, int attempt, const std::string& run,
             const std::string& name = "") {
    std::ostringstream text;
    text << R"({"run": ")" << run << R"(", "attempt": )" << attempt
         << R"(, "rank": )" << rank
         << R"(, "world_size": 2, "host": "n1", "pid": 7, "written": 50.5,
              "why": "x", "later": [1], "threads": [{"name": "main", "calls": [
              {"number": 1, "what": "Any", "of": "", "at": "x.cc:1",
               "started": 10.5, "ended": null, "failed": false}]}]})";
    std::ofstream(folder_ + "/calls-start" + std::to_string(attempt) + "-rank" +
                  std::to_string(rank) + name + ".json")
        << text.str();
  }

  const std::string folder_;
};

TEST_F(HangToolTest, PrintsHelp) {
  EXPECT_THAT(Hang({"--help"}).out, HasSubstr("hang FOLDER..."));
  EXPECT_EQ(Hang({"--help"}).code, 0);
}

TEST_F(HangToolTest, RefusesArguments) {
  EXPECT_EQ(Hang({}).code, 2);
  EXPECT_THAT(Hang({}).err, HasSubstr("no folder is given"));
  EXPECT_EQ(Hang({folder_, "--rum=x"}).code, 2);
  EXPECT_THAT(Hang({folder_, "--rum=x"}).err, HasSubstr("rum"));
}

TEST_F(HangToolTest, NamesAFolderWithoutRecords) {
  EXPECT_EQ(Hang({folder_ + "/no"}).code, 1);
  EXPECT_THAT(Hang({folder_ + "/no"}).err, HasSubstr("no such folder"));
  EXPECT_THAT(Hang({folder_}).err, HasSubstr("there is no record"));
}

TEST_F(HangToolTest, NamesADamagedRecord) {
  std::ofstream(folder_ + "/calls-start0-rank0.json") << R"({"rank": 1)";
  EXPECT_THAT(Hang({folder_}).err, HasSubstr("calls-start0-rank0.json: byte"));
  std::ofstream(folder_ + "/calls-start0-rank0.json") << "{}";
  EXPECT_THAT(Hang({folder_}).err, HasSubstr("no record of a rank's calls"));
}

TEST_F(HangToolTest, ReadsTheLastAttempt) {
  Write(0, 0, "n1:1");
  Write(0, 1, "n1:2");
  Write(1, 1, "n1:2");
  EXPECT_THAT(Hang({folder_}).out,
              AllOf(HasSubstr("run n1:2, attempt 1, 2 ranks; records of ranks "
                              "0, 1, the last of 1970-01-01 00:00:50 UTC\n"),
                    HasSubstr("ranks 0, 1 wait in call 1, Any at x.cc:1, since "
                              "40.0 s\n")));
  EXPECT_THAT(Hang({folder_, "--run=n1:1"}).out, HasSubstr("run n1:1"));
  EXPECT_THAT(Hang({folder_, "--run=n1:3"}).err,
              HasSubstr("there is no record of the run n1:3"));
}

TEST_F(HangToolTest, RefusesRecordsOfSeveralRuns) {
  Write(0, 0, "n1:1");
  Write(1, 0, "n1:2");
  EXPECT_EQ(Hang({folder_}).code, 1);
  EXPECT_THAT(Hang({folder_}).err,
              AllOf(HasSubstr("of several runs"),
                    HasSubstr("--run=n1:1 (attempt 0, until 1970-01-01 "
                              "00:00:50 UTC)"),
                    HasSubstr("--run=n1:2")));
  EXPECT_EQ(Hang({folder_, "--run=n1:2"}).code, 0);
  Write(1, 0, "n1:2", "-copy");
  EXPECT_THAT(Hang({folder_, "--run=n1:2"}).err, HasSubstr("of the same rank"));
}

TEST(HeaderExamplesTest, Hang) {
  const std::string folder = "run/records";
  fs::create_directories(folder);
  std::ofstream(folder + "/calls-start0-rank0.json")
      << R"({"rank": 0, "world_size": 1})";
  std::ostringstream out, err;
  const std::vector<RankCalls> all = ReadRecords({"run/records"});
  const std::vector<RankCalls> last = ChooseStart(all, /*run=*/"");
  EXPECT_EQ(last.size(), 1);
  PrintHang(ChooseStart(ReadRecords({folder}), ""), out);
  const int code = RunHangTool({"run/records"}, out, err);
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace trainyard
