// The parts of Abseil that Trainyard's programs use compile, link and work.
#include <absl/flags/flag.h>
#include <absl/flags/parse.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>
#include <absl/time/time.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

ABSL_FLAG(int, epochs, 1, "How many epochs.");

namespace {

absl::StatusOr<int> Parse(const std::string& text) {
  int value;
  if (!absl::SimpleAtoi(text, &value))
    return absl::InvalidArgumentError(
        absl::StrFormat("not a number: %s", text));
  return value;
}

TEST(AbslTest, StatusCarriesTheError) {
  EXPECT_EQ(Parse("12").value(), 12);
  EXPECT_EQ(Parse("x").status(), absl::InvalidArgumentError("not a number: x"));
}

TEST(AbslTest, StringsSplitAndJoin) {
  const std::vector<std::string> parts = absl::StrSplit("a,b,c", ',');
  EXPECT_EQ(absl::StrJoin(parts, "-"), "a-b-c");
}

TEST(AbslTest, TimeIsWritten) {
  EXPECT_EQ(absl::FormatDuration(absl::Seconds(90)), "1m30s");
}

TEST(AbslTest, FlagsAreReadFromTheCommandLine) {
  std::vector<std::string> words = {"program", "--epochs=5", "file"};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  const std::vector<char*> rest =
      absl::ParseCommandLine(static_cast<int>(argv.size()), argv.data());
  EXPECT_EQ(absl::GetFlag(FLAGS_epochs), 5);
  ASSERT_EQ(rest.size(), 2U);
  EXPECT_STREQ(rest[1], "file");
}

}  // namespace
