// The examples of the headers.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tracking/sinks/console.h"
#include "tracking/sinks/csv.h"
#include "tracking/sinks/histogram.h"
#include "tracking/sinks/jsonl.h"
#include "tracking/sinks/number_text.h"
#include "tracking/sinks/record.h"
#include "tracking/sinks/sink.h"
#include "tracking/sinks/tensorboard.h"
#include "tracking/sinks/tracker.h"

namespace trainyard {
namespace {

TEST(SinkHeadersTest, EachFileHasASink) {
  const std::string folder = ::testing::TempDir() + "/headers";
  {
    auto sink = MakeConsole({.every = 10});
    EXPECT_EQ(sink->name(), "console");
  }
  {
    auto sink = MakeCsv("run/metrics.csv");
    EXPECT_EQ(sink->name(), "csv");
  }
  {
    auto sink = MakeJsonLines("run/metrics.jsonl");
    EXPECT_EQ(sink->name(), "jsonl");
  }
  {
    auto sink = MakeTensorBoard(folder + "/tensorboard");
    EXPECT_EQ(sink->name(), "tensorboard");
  }
}

TEST(SinkHeadersTest, TrackerWritesRecords) {
  const std::string folder = ::testing::TempDir() + "/tracker";
  const std::vector<float> weights = {0.1F, 0.2F};
  std::vector<std::unique_ptr<Sink>> sinks;
  sinks.push_back(MakeJsonLines(folder + "/metrics.jsonl"));
  Tracker tracker(std::move(sinks));
  tracker.Add(10, tracking::Row{{"loss", 0.5}, {"lr", 0.001}});
  tracker.Flush();
  EXPECT_GT(std::filesystem::file_size(folder + "/metrics.jsonl"), 20);
  tracker.Add(10, MakeHistogram("weights/conv1", weights));
  EXPECT_EQ(tracker.error(), "");
}

class Count final : public Sink {
 public:
  std::string name() const override { return "count"; }
  void Write(const tracking::Record&) override { ++count; }
  int64_t count = 0;
};

TEST(SinkHeadersTest, SinkOfYourOwnGetsRecords) {
  const tracking::Record record{
      .step = 10,
      .time = 1.7e9,
      .what = tracking::Row{{"loss", 0.5}, {"lr", 0.1}}};
  Count sink;
  sink.Write(record);
  EXPECT_EQ(sink.count, 1);
}

TEST(SinkHeadersTest, NumbersAreShort) {
  std::string text;
  AppendNumber(text, 0.1);
  EXPECT_EQ(text, "0.1");
}

}  // namespace
}  // namespace trainyard
