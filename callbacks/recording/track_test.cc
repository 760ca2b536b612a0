#include "callbacks/recording/track.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include "callbacks/testing/callback_conformance.h"
#include "callbacks/testing/fake_run.h"
#include "tracking/run_history.h"
#include "trainer/testing/clock_at.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string NewFolder(const std::string& name) {
  const std::string folder = ::testing::TempDir() + "/" + name;
  std::filesystem::remove_all(folder);
  return folder;
}

std::string Read(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// The rows of a run without their times.
std::vector<std::string> Rows(const std::string& folder) {
  std::ifstream file(folder + "/metrics.jsonl");
  std::vector<std::string> rows;
  const std::regex time("\"time\":[0-9.]*,");
  for (std::string line; std::getline(file, line);) {
    rows.push_back(std::regex_replace(line, time, ""));
  }
  return rows;
}

TEST(TrackTest, WritesEvaluationsAndEpochs) {
  const std::string folder = NewFolder("epochs");
  FakeRun run({.num_epochs = 2, .batches_per_epoch = 1});
  run.Add(Track({.run_dir = folder, .clock = run.seconds()}));
  run.Play();
  EXPECT_THAT(
      Rows(folder),
      ElementsAre("{\"step\":1,\"eval_loss\":0.25}",
                  "{\"step\":1,\"epoch\":1,\"samples\":8,\"epoch/seconds\":1,"
                  "\"epoch/eval_seconds\":0.5,\"epoch/train_loss\":0.5}",
                  "{\"step\":1,\"train_loss\":0.5,\"epoch\":1,\"samples\":8,"
                  "\"samples_per_second\":16}",
                  "{\"step\":2,\"eval_loss\":0.25}",
                  "{\"step\":2,\"epoch\":2,\"samples\":16,\"epoch/seconds\":1,"
                  "\"epoch/eval_seconds\":0.5,\"epoch/train_loss\":0.5}",
                  "{\"step\":2,\"train_loss\":0.5,\"epoch\":2,\"samples\":16,"
                  "\"samples_per_second\":16}"));
  EXPECT_TRUE(std::filesystem::exists(folder + "/metrics.csv"));
  EXPECT_TRUE(std::filesystem::exists(folder + "/tensorboard"));
}

TEST(TrackTest, WritesReportsWithTheValuesAskedFor) {
  const std::string folder = NewFolder("reports");
  double lr = 0.1;
  double now = 100;
  Track track({.run_dir = folder,
               .values = {{"lr", [&] { return lr; }}},
               .clock = [&] { return now; }});
  Control control;
  const RunClock clock =
      ClockAt({.epoch_batches = 10, .updates = 10, .samples = 80});
  track.OnMetricsReport({.clock = clock, .metrics = {{"train_loss", 0.7}}},
                        control);
  lr = 0.05;
  // 6 seconds, of which 2 are an evaluation's.
  track.OnEvalStart({.clock = clock, .name = "eval", .backend = FakeBackend()},
                    control);
  now += 2;
  track.OnEvalEnd({.clock = clock, .name = "eval", .metrics = {}}, control);
  now += 4;
  // The end of the second epoch.
  const RunClock later = ClockAt({.epoch = 2, .updates = 20, .samples = 120});
  track.OnMetricsReport({.clock = later, .metrics = {{"train_loss", 0.6}}},
                        control);
  track.tracker().Flush();
  EXPECT_THAT(Rows(folder),
              ElementsAre("{\"step\":10,\"train_loss\":0.7,\"lr\":0.1,"
                          "\"epoch\":1,\"samples\":80}",
                          "{\"step\":20,\"train_loss\":0.6,\"lr\":0.05,"
                          "\"epoch\":2,\"samples\":120,"
                          "\"samples_per_second\":10}"));
}

TEST(TrackTest, WritesHowTheRunWasStarted) {
  const std::string folder = NewFolder("info");
  FakeRun run;
  run.Add(Track({.run_dir = folder,
                 .config = {{"model", "conv \"net\""}},
                 .hooks = [] { return "| event | callback |"; }}));
  run.Play();
  const std::string info = Read(folder + "/run.json");
  EXPECT_THAT(info, HasSubstr("\"model\": \"conv \\\"net\\\"\""));
  EXPECT_THAT(info, HasSubstr("\"grad_accum_steps\": \"1\""));
  EXPECT_THAT(info, HasSubstr("\"hooks\": \"| event | callback |\""));
  EXPECT_THAT(info, HasSubstr("\"resumed_at\": 0"));
}

TEST(TrackTest, WritesEachFieldOfTheConfigurationAsItIs) {
  const std::string folder = NewFolder("fields");
  Track track({.run_dir = folder});
  Control control;
  const RunClock clock;
  const RunConfig config{.device = "cpu\nclip: none"};
  track.OnRunStart({config, clock, /*resumed=*/false, FakeBackend()}, control);
  EXPECT_THAT(Read(folder + "/run.json"),
              HasSubstr("\"device\": \"cpu\\nclip: none\""));
}

TEST(TrackTest, ResumedRunHasEveryRowOnce) {
  const std::string folder = NewFolder("resume");
  State saved;
  {
    FakeRun run({.num_epochs = 2, .batches_per_epoch = 1});
    Track track({.run_dir = folder, .clock = run.seconds()});
    run.Add(track);
    // A checkpoint after the first evaluation. The run continues after it, and
    // is then resumed from it.
    run.Add(On<EvalEnd>(
        [&](const EvalEnd& e, Control&) {
          if (e.clock.updates() == 1) saved = track.SaveState();
        },
        /*priority=*/200));
    run.Play();
  }
  const std::vector<std::string> before = Rows(folder);
  FakeRun run({.num_epochs = 1, .batches_per_epoch = 1});
  Track track({.run_dir = folder, .clock = run.seconds()});
  track.LoadState(saved);
  run.Add(track);
  run.PlayResumed(RunClock());
  // What a run of one epoch writes, after what the first had at its checkpoint.
  EXPECT_THAT(Rows(folder),
              ElementsAre(before[0], before[0], before[1], before[2]));
}

TEST(TrackTest, RestoredHistoryIsNotWrittenAgain) {
  const std::string folder = NewFolder("restored");
  InMemoryRunHistory history;
  history.Update("grad_norm", 2);
  history.Update("eval_loss", 0.25);
  Control control;
  const RunClock clock = ClockAt({.updates = 4});
  const RunConfig config;
  State saved;
  for (const bool resumed : {false, true}) {
    Track track({.run_dir = folder, .clock = [] { return 0.0; }});
    if (resumed) track.LoadState(saved);
    track.OnRunStart({config, clock, resumed, FakeBackend()}, control);
    if (!resumed) {
      track.OnEvalEnd(
          {.clock = clock, .name = "eval", .metrics = {{"eval_loss", 0.25}}},
          control);
    }
    track.OnRunEnd({.clock = clock,
                    .history = history,
                    .ending = RunEnding::kFinished,
                    .message = ""},
                   control);
    saved = track.SaveState();
  }
  EXPECT_THAT(Rows(folder), ElementsAre("{\"step\":4,\"eval_loss\":0.25}",
                                        "{\"step\":4,\"epoch/grad_norm\":2}"));
}

TEST(TrackTest, RefusesBadOptions) {
  EXPECT_THROW(Track({}), std::invalid_argument);
  EXPECT_THROW(Track({.run_dir = "/proc/no"}), std::invalid_argument);
  EXPECT_THROW(
      Track({.run_dir = NewFolder("bad"), .values = {{"lr", nullptr}}}),
      std::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(Track, CallbackConformanceTest,
                         ::testing::Values(CallbackCase{
                             "Track",
                             [](SecondsClock clock) {
                               return std::make_unique<Track>(TrackOptions{
                                   .run_dir =
                                       ::testing::TempDir() + "/conformance",
                                   .clock = std::move(clock)});
                             }}),
                         CallbackCaseName);

}  // namespace
}  // namespace trainyard
