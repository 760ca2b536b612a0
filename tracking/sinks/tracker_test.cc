#include "tracking/sinks/tracker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tracking/sinks/csv.h"
#include "tracking/sinks/jsonl.h"
#include "tracking/sinks/tensorboard.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

class TrackerTest : public ::testing::Test {
 protected:
  TrackerTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = ::testing::TempDir() + "/" + test->name();
    fs::remove_all(folder_);
  }

  std::unique_ptr<Tracker> Make() {
    std::vector<std::unique_ptr<Sink>> sinks;
    sinks.push_back(MakeJsonLines(folder_ + "/metrics.jsonl"));
    sinks.push_back(MakeCsv(folder_ + "/metrics.csv"));
    sinks.push_back(MakeTensorBoard(folder_ + "/tensorboard"));
    return std::make_unique<Tracker>(
        std::move(sinks), TrackerOptions{.clock = [] { return 1.5; }});
  }

  std::string Read(const std::string& name) {
    std::ifstream file(folder_ + "/" + name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  std::string folder_;
};

// A sink that keeps what it gets, and can be told to wait or to fail.
class Kept final : public Sink {
 public:
  explicit Kept(std::vector<int64_t>& steps) : steps_(steps) {}
  std::string name() const override { return "kept"; }
  void Write(const tracking::Record& record) override {
    if (gate != nullptr) gate->wait();
    if (record.step == fail_at) throw std::runtime_error("planned");
    steps_.push_back(record.step);
  }
  std::shared_future<void>* gate = nullptr;
  int64_t fail_at = -1;

 private:
  std::vector<int64_t>& steps_;
};

TEST_F(TrackerTest, HeaderExample) {
  auto tracker = Make();
  tracker->Add(10, tracking::Row{{"loss", 0.5}, {"lr", 0.001}});
  tracker->Flush();
  EXPECT_EQ(Read("metrics.jsonl"),
            "{\"step\":10,\"time\":1.500,\"loss\":0.5,\"lr\":0.001}\n");
  EXPECT_EQ(Read("metrics.csv"),
            "step,time,name,value\n10,1.500,loss,0.5\n10,1.500,lr,0.001\n");
}

TEST_F(TrackerTest, WritesNumbersAndNamesOfAllKinds) {
  auto tracker = Make();
  tracker->Add(1, tracking::Row{
                      {"a \"b\", c", 0.1 + 0.2}, {"x", NAN}, {"y", -INFINITY}});
  tracker->Add(1, tracking::Text{.name = "t", .text = "left out here"});
  tracker->Flush();
  EXPECT_EQ(Read("metrics.jsonl"),
            "{\"step\":1,\"time\":1.500,\"a \\\"b\\\", "
            "c\":0.30000000000000004,\"x\":null,\"y\":null}\n");
  EXPECT_EQ(Read("metrics.csv"),
            "step,time,name,value\n1,1.500,\"a \"\"b\"\", "
            "c\",0.30000000000000004\n1,1.500,x,nan\n1,1.500,y,-inf\n");
}

TEST_F(TrackerTest, ResumedRunEqualsAnUninterruptedOne) {
  const std::vector<std::string> files = {
      "metrics.jsonl", "metrics.csv",
      std::string("tensorboard/") + kEventFileName};
  {
    auto tracker = Make();
    for (int step = 1; step <= 20; ++step) {
      tracker->Add(step, tracking::Row{{"loss", 1.0 / step}});
    }
  }
  std::vector<std::string> whole;
  for (const auto& file : files) whole.push_back(Read(file));

  Tracker::Positions positions;
  {
    auto tracker = Make();
    for (int step = 1; step <= 17; ++step) {
      if (step == 13) positions = tracker->Save();
      tracker->Add(step, tracking::Row{{"loss", 1.0 / step}});
    }
  }
  // A killed writer may leave a torn line.
  for (const auto& file : files) {
    std::ofstream(folder_ + "/" + file, std::ios::app) << "{\"step\":18,\"ti";
  }
  {
    auto tracker = Make();
    tracker->Start(positions);
    for (int step = 13; step <= 20; ++step) {
      tracker->Add(step, tracking::Row{{"loss", 1.0 / step}});
    }
  }
  for (size_t i = 0; i < files.size(); ++i) EXPECT_EQ(Read(files[i]), whole[i]);
}

TEST_F(TrackerTest, NewRunRenamesExistingFiles) {
  for (const double value : {1, 2}) {
    auto tracker = Make();
    tracker->Add(1, tracking::Row{{"loss", value}});
  }
  EXPECT_THAT(Read("metrics.jsonl"), HasSubstr("\"loss\":2"));
  EXPECT_THAT(Read("old-metrics.jsonl"), HasSubstr("\"loss\":1"));
  EXPECT_TRUE(
      fs::exists(folder_ + "/tensorboard/old-events.out.events.trainyard"));
}

TEST_F(TrackerTest, SavingBeforeTheFirstRecordTouchesNoFile) {
  fs::create_directories(folder_);
  std::ofstream(folder_ + "/metrics.jsonl") << "of another process";
  EXPECT_EQ(Make()->Save(), Tracker::Positions());
  EXPECT_EQ(Read("metrics.jsonl"), "of another process");
}

TEST_F(TrackerTest, FileShorterThanItsPositionIsAnError) {
  auto tracker = Make();
  tracker->Start({{"jsonl", 100}});
  tracker->Add(1, tracking::Row{{"loss", 1}});
  tracker->Flush();
  EXPECT_THAT(tracker->error(),
              HasSubstr("metrics.jsonl: has 0 bytes, and the checkpoint was "
                        "made at 100"));
  // The others go on.
  EXPECT_THAT(Read("metrics.csv"), HasSubstr("1,1.500,loss,1\n"));
}

TEST_F(TrackerTest, FullDiskStopsTheSinkAndNotTheRun) {
  auto tracker = Make();
  tracker->Add(1, tracking::Row{{"loss", 0.5}});
  tracker->Flush();
  const std::string before = Read("metrics.jsonl");
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old = {};
  getrlimit(RLIMIT_FSIZE, &old);
  const rlimit small = {.rlim_cur = before.size() + 10,
                        .rlim_max = old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  tracker->Add(2, tracking::Row{{"loss", 0.5}});
  tracker->Flush();
  setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_THAT(tracker->error(), HasSubstr("cannot be written"));
  EXPECT_EQ(Read("metrics.jsonl"), before);
}

TEST(TrackerQueueTest, AddWaitsForAFullQueueAndNothingIsLost) {
  std::vector<int64_t> steps;
  std::promise<void> open;
  std::shared_future<void> gate = open.get_future().share();
  auto sink = std::make_unique<Kept>(steps);
  sink->gate = &gate;
  std::vector<std::unique_ptr<Sink>> sinks;
  sinks.push_back(std::move(sink));
  Tracker tracker(std::move(sinks), {.capacity = 4});
  std::thread loop([&] {
    for (int step = 0; step < 100; ++step)
      tracker.Add(step, tracking::Row{{"x", 0}});
  });
  while (tracker.waits() == 0) std::this_thread::yield();
  open.set_value();
  loop.join();
  tracker.Flush();
  ASSERT_EQ(steps.size(), 100);
  for (int step = 0; step < 100; ++step) EXPECT_EQ(steps[step], step);
}

TEST(TrackerQueueTest, DestructionWritesWhatWaits) {
  std::vector<int64_t> steps;
  {
    std::vector<std::unique_ptr<Sink>> sinks;
    sinks.push_back(std::make_unique<Kept>(steps));
    Tracker tracker(std::move(sinks), {.write_every = std::chrono::hours(1)});
    tracker.Add(1, tracking::Row{{"x", 0}});
    tracker.Add(2, tracking::Row{{"x", 0}});
  }
  EXPECT_THAT(steps, ElementsAre(1, 2));
}

TEST(TrackerQueueTest, FailedSinkGetsNoMoreRecords) {
  std::vector<int64_t> steps;
  auto sink = std::make_unique<Kept>(steps);
  sink->fail_at = 2;
  std::vector<std::unique_ptr<Sink>> sinks;
  sinks.push_back(std::move(sink));
  Tracker tracker(std::move(sinks));
  for (int step = 1; step <= 3; ++step)
    tracker.Add(step, tracking::Row{{"x", 0}});
  tracker.Flush();
  EXPECT_EQ(tracker.error(), "planned");
  EXPECT_THAT(steps, ElementsAre(1));
}

TEST(TrackerQueueTest, MistakesAreNamed) {
  std::vector<int64_t> steps;
  std::vector<std::unique_ptr<Sink>> sinks;
  sinks.push_back(std::make_unique<Kept>(steps));
  sinks.push_back(std::make_unique<Kept>(steps));
  EXPECT_THROW(Tracker(std::move(sinks)), std::invalid_argument);
  EXPECT_THROW(Tracker({}, {.capacity = 0}), std::invalid_argument);
  Tracker tracker({});
  EXPECT_THROW(tracker.Add(1, tracking::Row{{"time", 1}}),
               std::invalid_argument);
}

}  // namespace
}  // namespace trainyard
