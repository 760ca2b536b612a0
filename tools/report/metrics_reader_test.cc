#include "tools/report/metrics_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <string>

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class MetricsReaderTest : public ::testing::Test {
 protected:
  MetricsReaderTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = ::testing::TempDir() + "/" + test->name();
  }

  void Write(const std::string& text, bool append = false) {
    std::ofstream(path_, append ? std::ios::app : std::ios::trunc) << text;
  }

  std::string path_;
};

TEST_F(MetricsReaderTest, HeaderExample) {
  const std::string path = path_;
  Write("{\"step\":1,\"time\":1,\"train_loss\":0.5}\n");
  MetricsReader reader(path);
  reader.Refresh();
  const std::vector<double>& losses = reader.series().at("train_loss").values;
  EXPECT_THAT(losses, ElementsAre(0.5));
}

TEST_F(MetricsReaderTest, ReadsRowsAndLaterAppendedRows) {
  MetricsReader reader(path_);
  reader.Refresh();
  EXPECT_THAT(reader.series(), IsEmpty());
  Write(
      "{\"step\":1,\"time\":10.5,\"loss\":0.5,\"lr\":1}\n"
      "{\"step\":2,\"time\":11,\"loss\":null}\n{\"step\":3,\"ti");
  reader.Refresh();
  EXPECT_THAT(reader.series().at("lr").times, ElementsAre(10.5));
  EXPECT_THAT(reader.series().at("loss").steps, ElementsAre(1, 2));
  EXPECT_TRUE(std::isnan(reader.series().at("loss").values[1]));
  Write("me\":12,\"loss\":0.25}\n", /*append=*/true);
  reader.Refresh();
  EXPECT_THAT(reader.series().at("loss").steps, ElementsAre(1, 2, 3));
  EXPECT_EQ(reader.bad_lines(), 0);
}

TEST_F(MetricsReaderTest, AFileThatWasCutBackIsReadAnew) {
  const std::string first = "{\"step\":1,\"time\":1,\"loss\":1}\n";
  Write(first + "{\"step\":2,\"time\":2,\"loss\":2}\n");
  MetricsReader reader(path_);
  reader.Refresh();
  // Shorter.
  Write(first);
  reader.Refresh();
  EXPECT_THAT(reader.series().at("loss").values, ElementsAre(1));
  // Cut back, and grown past where it was.
  Write(
      "{\"step\":1,\"time\":1,\"loss\":5}\n{\"step\":2,\"time\":2,"
      "\"loss\":6}\n");
  reader.Refresh();
  EXPECT_THAT(reader.series().at("loss").values, ElementsAre(5, 6));
}

TEST_F(MetricsReaderTest, CountsLinesThatAreNoRows) {
  Write(
      "{\"step\":1,\"time\":1,\"loss\":1}\n{\"loss\":2}\nnonsense\n\n"
      "{\"step\":2,\"time\":1,\"loss\":\"x\"}\n"
      "{\"step\":3,\"time\":1,\"loss\":3}\n");
  MetricsReader reader(path_);
  reader.Refresh();
  EXPECT_EQ(reader.bad_lines(), 4);
  EXPECT_THAT(reader.series().at("loss").steps, ElementsAre(1, 3));
}

TEST_F(MetricsReaderTest, ReadsLinesAcrossItsPieces) {
  std::string text;
  for (int step = 1; step <= 60'000; ++step) {
    text += "{\"step\":" + std::to_string(step) + ",\"time\":1,\"loss\":1}\n";
  }
  ASSERT_GT(text.size(), 1 << 20);
  Write(text);
  MetricsReader reader(path_);
  reader.Refresh();
  EXPECT_EQ(reader.series().at("loss").steps.size(), 60'000);
  EXPECT_EQ(reader.series().at("loss").steps.back(), 60'000);
  EXPECT_EQ(reader.bad_lines(), 0);
}

}  // namespace
}  // namespace trainyard
