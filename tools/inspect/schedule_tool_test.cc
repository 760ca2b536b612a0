#include "tools/inspect/schedule_tool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace trainyard {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Result {
  int code;
  std::string out, err;
};

Result Tool(const std::vector<std::string>& arguments, bool terminal = false) {
  std::ostringstream out, err;
  const int code = RunScheduleTool(arguments, terminal, out, err);
  return {code, out.str(), err.str()};
}

TEST(ScheduleToolTest, HeaderExample) {
  std::ostringstream out, err;
  const int code = RunScheduleTool({"--schedule=cosine", "--epochs=5"},
                                   /*terminal=*/true, out, err);
  EXPECT_EQ(code, 0);
  EXPECT_EQ(err.str(), "");
  EXPECT_THAT(out.str(), HasSubstr("cosine, lr 1, 5000 updates\n"));
}

TEST(ScheduleToolTest, PrintsATable) {
  const Result result = Tool({"--schedule=linear", "--lr=0.5", "--epochs=2",
                              "--updates_per_epoch=50", "--rows=4"});
  EXPECT_EQ(result.out,
            "    update      epoch               lr    of base\n"
            "         0      0.000              0.5    100.00%\n"
            "        33      0.660            0.335     67.00%\n"
            "        66      1.320             0.17     34.00%\n"
            "        99      1.980            0.005      1.00%\n");
}

TEST(ScheduleToolTest, AShortRunHasAShortTable) {
  EXPECT_EQ(Tool({"--schedule=constant", "--total_updates=1"}).out,
            "    update      epoch               lr    of base\n"
            "         0      0.000                1    100.00%\n");
  EXPECT_EQ(Tool({"--schedule=constant", "--rows=0"}).out, "");
}

TEST(ScheduleToolTest, PlotsOnATerminalOrWhenAsked) {
  const std::vector<std::string> plain = {"--schedule=linear"};
  EXPECT_THAT(Tool(plain, false).out, Not(HasSubstr("|*")));
  EXPECT_THAT(Tool(plain, true).out, HasSubstr("|*"));
  EXPECT_THAT(Tool({"--schedule=linear", "--plot=false"}, true).out,
              Not(HasSubstr("|*")));
  EXPECT_THAT(Tool({"--schedule=linear", "--plot"}, false).out,
              HasSubstr("|*"));
}

TEST(ScheduleToolTest, HelpNamesEverySchedule) {
  const Result result = Tool({"--help"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, HasSubstr("--updates_per_epoch=N"));
  EXPECT_THAT(result.out, HasSubstr("  warmup_stable_decay "));
}

TEST(ScheduleToolTest, EachMistakeIsOneLine) {
  const auto expect = [](const std::vector<std::string>& arguments,
                         const std::string& message) {
    const Result result = Tool(arguments);
    EXPECT_EQ(result.code, 1);
    EXPECT_EQ(result.err, "schedule: " + message + "\n");
  };
  expect({}, "--schedule is not given; see --help");
  expect({"cosine"}, "'cosine' is not of the form --name=value");
  expect({"--schedule=cosine", "--epochs=0"},
         "--epochs is '0', want 1 to 100000000");
  expect({"--schedule=cosine", "--epochs=99999999"},
         "--total_updates is '99999999000', want 1 to 100000000");
  expect({"--schedule=cosine", "--warmup_epochs=3"},
         "Cosine: warmup is 3 epochs (3000 updates), longer than the run of "
         "1000 updates");
}

}  // namespace
}  // namespace trainyard
