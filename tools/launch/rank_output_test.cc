#include "tools/launch/rank_output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

namespace trainyard {
namespace {

using ::testing::ElementsAre;

class RankOutputTest : public ::testing::Test {
 protected:
  RankOutputTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    name_ = ::testing::TempDir() + "/" + test->name();
    for (const char* end : {".log", ".out"}) unlink((name_ + end).c_str());
    merged_ = open((name_ + ".out").c_str(), O_CREAT | O_WRONLY, 0600);
  }
  ~RankOutputTest() override { close(merged_); }

  std::string Read(const char* end) {
    std::ifstream file(name_ + end);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  std::string name_;
  int merged_;
};

TEST_F(RankOutputTest, PutsTheRankInFrontOfLinesThatComeInPieces) {
  RankOutput output(1, name_ + ".log", merged_, merged_);
  output.Add(RankOutput::kError, "error: lr");
  output.Add(RankOutput::kOutput, "a\nb");
  output.Add(RankOutput::kError, " is -1\n");
  output.Add(RankOutput::kOutput, "c\n\nd");
  output.Finish();
  EXPECT_EQ(Read(".out"), "[1] a\n[1] error: lr is -1\n[1] bc\n[1] \n[1] d\n");
  EXPECT_EQ(Read(".log"), "error: lra\nb is -1\nc\n\nd");
  EXPECT_THAT(output.LastLines(), ElementsAre("error: lr is -1"));
}

TEST_F(RankOutputTest, KeepsTheLastLinesOfOutputWhereThereWereNoErrors) {
  RankOutput output(0, name_ + ".log", merged_, merged_);
  for (int i = 0; i < 100; ++i) {
    output.Add(RankOutput::kOutput, std::to_string(i) + "\n");
  }
  EXPECT_EQ(output.LastLines().size(), RankOutput::kLastLines);
  EXPECT_EQ(output.LastLines().back(), "99");
}

TEST_F(RankOutputTest, BreaksALineThatHasNoEnd) {
  RankOutput output(0, name_ + ".log", merged_, merged_);
  const std::string piece(1000, 'x');
  for (int i = 0; i < 100; ++i) output.Add(RankOutput::kOutput, piece);
  EXPECT_EQ(Read(".out").size(), 66000 + 5);
  EXPECT_EQ(Read(".log").size(), 100000);
}

TEST_F(RankOutputTest, ASecondOneAppendsToTheLog) {
  for (const char* text : {"first\n", "second\n"}) {
    RankOutput(0, name_ + ".log", merged_, merged_)
        .Add(RankOutput::kOutput, text);
  }
  EXPECT_EQ(Read(".log"), "first\nsecond\n");
}

TEST_F(RankOutputTest, AFolderThatIsNotThereIsAnError) {
  EXPECT_THROW(RankOutput(0, name_ + "/no/x.log"), std::system_error);
}

}  // namespace
}  // namespace trainyard
