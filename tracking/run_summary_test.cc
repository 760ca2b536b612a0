#include "tracking/run_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

namespace trainyard {
namespace {

using ::testing::HasSubstr;

RunSummary Summary() {
  return {.epochs = 2,
          .updates = 938,
          .samples = 120000,
          .metrics = {{"train_loss", 0.25}, {"eval_loss", NAN}},
          .seconds = 12.5,
          .samples_per_second = 1e6 / 3,
          .state_crc32c = 4000000000};
}

constexpr char kJson[] = R"({
  "epochs": 2,
  "updates": 938,
  "samples": 120000,
  "eval_loss": null,
  "train_loss": 0.25,
  "seconds": 12.5,
  "samples_per_second": 333333.333,
  "state_crc32c": 4000000000
}
)";

TEST(RunSummaryTest, HeaderExample) {
  const std::string path = ::testing::TempDir() + "/example.json";
  const RunSummary summary{.epochs = 2, .metrics = {{"eval_loss", 0.5}}};
  const absl::Status written = WriteRunSummary(summary, path);
  EXPECT_TRUE(written.ok()) << written;
}

TEST(RunSummaryTest, IsOneFlatJsonObject) {
  EXPECT_EQ(ToJson(Summary()), kJson);
}

TEST(RunSummaryTest, EscapesTheNamesOfMetrics) {
  const std::string json =
      ToJson({.metrics = {{"top \"5\"\n", 0.5}, {"\xff", 1}}});
  EXPECT_THAT(json, HasSubstr("\"top \\\"5\\\"\\n\": 0.5"));
  EXPECT_THAT(json, HasSubstr("\"(not UTF-8)\": 1"));
}

TEST(RunSummaryTest, WritesTheFileAndNothingElse) {
  const std::string folder = ::testing::TempDir() + "/run_summary";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/summary.json") << "an earlier one";
  ASSERT_TRUE(WriteRunSummary(Summary(), folder + "/summary.json").ok());
  std::ifstream in(folder + "/summary.json");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), kJson);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

TEST(RunSummaryTest, ErrorNamesTheFile) {
  const absl::Status status =
      WriteRunSummary(Summary(), "/no/such/folder/summary.json");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("/no/such/folder/summary.json"));
}

}  // namespace
}  // namespace trainyard
