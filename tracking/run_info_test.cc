#include "tracking/run_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "trainer/io/json_reader.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

TEST(RunInfoTest, HeaderExample) {
  RunInfo info = RunInfoOfThisProcess();
  info.config = {{"epochs", "5"}};
  const std::string path = ::testing::TempDir() + "/run.json";
  const absl::Status written = WriteRunInfo(info, path);
  ASSERT_TRUE(written.ok()) << written;
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}),
            ToJson(info));
  EXPECT_THAT(info.command, HasSubstr("run_info_test"));
}

TEST(RunInfoTest, IsJsonWhateverTheTexts) {
  const RunInfo info{.started = 1.5,
                     .resumed_at = 10,
                     .command = "a \"b\"\n\xff",
                     .config = {{"k\\", "\x01"}, {"ä", "ö"}},
                     .hooks = "| a |\n|---|"};
  const std::string text = ToJson(info);
  JsonReader reader(text);
  EXPECT_TRUE(reader.Skip() && reader.End()) << reader.status();
  EXPECT_THAT(text, HasSubstr("\"resumed_at\": 10"));
  EXPECT_THAT(text, HasSubstr("\"environment\": {}"));
}

}  // namespace
}  // namespace trainyard
