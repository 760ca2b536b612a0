#include "tools/cli/parse_flags.h"

#include <absl/flags/flag.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "tools/testing/error_of.h"

ABSL_FLAG(double, test_rate, 0.5, "A number.");
ABSL_FLAG(int64_t, test_workers, 2, "An integer.");
ABSL_FLAG(std::string, test_name, "a b", "A text.");

namespace trainyard {
namespace {

using ::testing::HasSubstr;

class ParseFlagsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    SetFlags("test_rate: 0.5 test_workers: 2 test_name: \"a b\"", "defaults");
  }

  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = ::testing::TempDir() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }

  void Parse(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "program");
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    ParseFlags(static_cast<int>(pointers.size()), pointers.data(), "tests");
  }
};

TEST_F(ParseFlagsTest, SetsFlagsFromBothFormats) {
  SetFlags("test { rate: 0.25 name: \"x\" }", "run.txt");
  EXPECT_EQ(absl::GetFlag(FLAGS_test_rate), 0.25);
  EXPECT_EQ(absl::GetFlag(FLAGS_test_name), "x");
  SetFlags(R"({"test_workers": 7, "test": {"name": "y"}})", "run.json");
  EXPECT_EQ(absl::GetFlag(FLAGS_test_workers), 7);
  EXPECT_EQ(absl::GetFlag(FLAGS_test_name), "y");
  EXPECT_EQ(absl::GetFlag(FLAGS_test_rate), 0.25);
}

TEST_F(ParseFlagsTest, ShowsAllFlagsOfTheProgramAndReadsThemBack) {
  EXPECT_EQ(FlagsText(/*json=*/false),
            "test_name: \"a b\"\ntest_rate: 0.5\ntest_workers: 2\n");
  const std::string json = FlagsText(/*json=*/true);
  SetFlags("test_rate: 3 test_name: \"other\"", "run.txt");
  SetFlags(json, "run.json");
  EXPECT_EQ(FlagsText(true), json);
}

TEST_F(ParseFlagsTest, RefusesUnknownNamesWithTheNearest) {
  EXPECT_EQ(ErrorOf([] { SetFlags("test_worker: 1", "run.txt"); }),
            "run.txt: test_worker is not an option of this program; did you "
            "mean test_workers?");
  EXPECT_THAT(ErrorOf([] { SetFlags("test_workers: many", "run.txt"); }),
              HasSubstr("run.txt: test_workers is 'many'"));
}

TEST_F(ParseFlagsTest, TheCommandLineWins) {
  const std::string path =
      Write("run.json", R"({"test_rate": 0.125, "test_workers": 9})");
  Parse({"--test_workers=4", "--config=" + path});
  EXPECT_EQ(absl::GetFlag(FLAGS_test_rate), 0.125);
  EXPECT_EQ(absl::GetFlag(FLAGS_test_workers), 4);
}

using ParseFlagsDeathTest = ParseFlagsTest;

TEST_F(ParseFlagsDeathTest, WritesAFileAndEndsTheProgram) {
  const std::string path = ::testing::TempDir() + "/written.json";
  EXPECT_EXIT(Parse({"--test_rate=0.75", "--write_config=" + path}),
              ::testing::ExitedWithCode(EXIT_SUCCESS), "");
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(),
            "{\n  \"test_name\": \"a b\",\n  \"test_rate\": 0.75,\n  "
            "\"test_workers\": 2\n}\n");
}

TEST_F(ParseFlagsDeathTest, EndsTheProgramWithOneLine) {
  EXPECT_EXIT(Parse({"--config=/no/such/file"}),
              ::testing::ExitedWithCode(EXIT_FAILURE),
              "error: --config: cannot read /no/such/file");
  const std::string path = Write("bad.txt", "tset_rate: 1");
  EXPECT_EXIT(Parse({"--config", path}),
              ::testing::ExitedWithCode(EXIT_FAILURE),
              "tset_rate is not an option of this program; did you mean "
              "test_rate");
  EXPECT_EXIT(Parse({"file"}), ::testing::ExitedWithCode(EXIT_FAILURE),
              "error: \"file\" is not a flag; see --help");
}

}  // namespace
}  // namespace trainyard
