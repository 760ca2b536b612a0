#include "callbacks/weights/save_best.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>

#include "callbacks/testing/callback_conformance.h"
#include "callbacks/testing/fake_run.h"
#include "trainer/checkpoint/safetensors/safetensors.h"
#include "trainer/testing/clock_at.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A run of 4 updates per epoch whose weight is the number of updates made, and
// whose evaluations measure `values`.
class SaveBestTest : public ::testing::Test {
 protected:
  SaveBestTest() { fs::remove_all(folder_); }

  FakeRunOptions Measuring(std::vector<double> values) {
    return {.num_epochs = static_cast<int64_t>(values.size()),
            .eval =
                [=](int64_t epoch) {
                  return Metrics{
                      {"eval_loss", values[static_cast<size_t>(epoch - 1)]}};
                },
            .backward = [this] { weight_ += 1; }};
  }

  SaveBest Make(SaveBestOptions options = {}) {
    options.directory = folder_;
    return SaveBest({{"weight", weight_}}, options);
  }

  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  double weight() const { return weight_.item<double>(); }

  std::string folder_ = ::testing::TempDir() + "/best";
  at::Tensor weight_ = at::zeros({1}, at::kDouble);
};

TEST_F(SaveBestTest, HasTheBestWeightsAtTheEnd) {
  FakeRun run(Measuring({5, 3, 4, kNan}));
  SaveBest best = Make();
  run.Add(best);
  EXPECT_EQ(run.Play(), RunEnding::kFinished) << run.message();
  EXPECT_EQ(weight(), 8);
  ASSERT_EQ(best.saved().size(), 1);
  EXPECT_EQ(best.saved()[0].step, 8);
  EXPECT_EQ(best.saved()[0].epoch, 2);
  EXPECT_EQ(best.saved()[0].value, 3);
  EXPECT_THAT(Files(), ElementsAre("best.safetensors", "step-8.safetensors"));
  const auto file = ReadSafetensors(folder_ + "/best.safetensors");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->metadata.at("metric"), "eval_loss");
  EXPECT_EQ(file->metadata.at("value"), "3");
  EXPECT_EQ(file->tensors[0].tensor.item<double>(), 8);
}

TEST_F(SaveBestTest, KeepsAsManyAsAskedFor) {
  FakeRun run(Measuring({5, 3, 4, 6, 4}));
  SaveBest best = Make({.keep = 3, .reload = false});
  run.Add(best);
  run.Play();
  EXPECT_EQ(weight(), 20);
  std::vector<int64_t> steps;
  for (const auto& saved : best.saved()) steps.push_back(saved.step);
  EXPECT_THAT(steps,
              ElementsAre(8, 12, 20));  // of equal ones the earlier first
  EXPECT_EQ(fs::read_symlink(folder_ + "/best.safetensors"),
            "step-8.safetensors");
  EXPECT_EQ(Files().size(), 4);
}

TEST_F(SaveBestTest, HigherMayBeBetter) {
  FakeRun run(Measuring({1, 3, 2}));
  SaveBest best = Make({.better = Better::kHigher});
  run.Add(best);
  run.Play();
  EXPECT_EQ(weight(), 8);
}

TEST_F(SaveBestTest, SecondRunRenamesTheFilesOfTheFirst) {
  FakeRun run(Measuring({5, 3}));
  SaveBest best = Make();
  run.Add(best);
  run.Play();
  run.Play();  // from weight 8 on, and updates from 1
  EXPECT_EQ(weight(), 16);
  EXPECT_THAT(Files(), ElementsAre("best.safetensors", "old-step-8.safetensors",
                                   "step-8.safetensors"));
  FakeRun other(Measuring({9}));
  SaveBest another = Make();
  other.Add(another);
  other.Play();
  EXPECT_THAT(Files(), ElementsAre("best.safetensors", "old-step-8.safetensors",
                                   "step-4.safetensors"));
}

TEST_F(SaveBestTest, ResumedRunContinuesItsFiles) {
  FakeRun first(Measuring({3, 4}));
  SaveBest before = Make();
  first.Add(before);
  first.Play();
  const State state = before.SaveState();
  // Better ones, after the checkpoint, do not remove what it names.
  weight_.fill_(40);
  Control control;
  const RunClock later =
      ClockAt({.epoch = 2, .epoch_batches = 1, .updates = 12});
  const RunConfig config{.num_epochs = 4};
  SaveBest crashed = Make();
  crashed.LoadState(state);
  crashed.OnRunStart({config, later, /*resumed=*/true, FakeBackend()}, control);
  crashed.OnEvalEnd({later, "eval", {{"eval_loss", 2}}}, control);
  EXPECT_THAT(Files(), ElementsAre("best.safetensors", "step-12.safetensors",
                                   "step-4.safetensors"));
  // The same checkpoint again; this time it does not become better.
  SaveBest after = Make();
  after.LoadState(state);
  after.OnRunStart({config, later, /*resumed=*/true, FakeBackend()}, control);
  EXPECT_EQ(fs::read_symlink(folder_ + "/best.safetensors"),
            "step-4.safetensors");
  after.OnEvalEnd({later, "eval", {{"eval_loss", 7}}}, control);
  InMemoryRunHistory history;
  after.OnRunEnd({later, history, RunEnding::kFinished, ""}, control);
  EXPECT_EQ(weight(), 4);
  EXPECT_EQ(after.saved()[0].value, 3);
}

TEST_F(SaveBestTest, MissingFileIsNotTheBest) {
  FakeRun first(Measuring({3, 4}));
  SaveBest before = Make();
  first.Add(before);
  first.Play();
  fs::remove(before.PathOf(before.saved()[0]));
  SaveBest after = Make();
  after.LoadState(before.SaveState());
  Control control;
  after.OnRunStart(
      {{.num_epochs = 2}, ClockAt({}), /*resumed=*/true, FakeBackend()},
      control);
  EXPECT_TRUE(after.saved().empty());
}

TEST_F(SaveBestTest, ReloadChecksTheFileAndTakesTheNextBest) {
  for (const int64_t keep : {1, 2}) {
    fs::remove_all(folder_);
    weight_.zero_();
    FakeRun run(Measuring({4, 3, 5}));
    SaveBest best = Make({.keep = keep});
    run.Add(best);
    // One bit of the best, after it was written.
    run.Add(On<EpochEnd>([&](const EpochEnd& e, Control&) {
              if (e.clock.epoch() != 2) return;
              std::fstream file(best.PathOf(best.saved()[0]));
              file.seekp(-1, std::ios::end);
              file.put('\x01');
            }),
            {.priority = 99});
    const RunEnding ending = run.Play();
    if (keep == 2) {
      EXPECT_EQ(ending, RunEnding::kFinished) << run.message();
      EXPECT_EQ(weight(), 4);
    } else {
      EXPECT_EQ(ending, RunEnding::kError);
      EXPECT_THAT(run.message(), HasSubstr("its checksum is wrong"));
      EXPECT_EQ(weight(), 12) << "the last ones stay";
    }
  }
}

TEST_F(SaveBestTest, UnwritableFolderEndsTheRun) {
  std::ofstream(folder_) << "a file";
  FakeRun run(Measuring({1}));
  SaveBest best = Make();
  run.Add(best);
  EXPECT_EQ(run.Play(), RunEnding::kError);
  EXPECT_THAT(run.message(), HasSubstr("SaveBest: cannot make " + folder_));
  fs::remove(folder_);
}

TEST_F(SaveBestTest, RefusesBadOptionsByName) {
  const auto message = [&](std::vector<NamedTensor> weights,
                           const SaveBestOptions& options) -> std::string {
    try {
      SaveBest best(std::move(weights), options);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "accepted";
  };
  const std::vector<NamedTensor> weights = {{"weight", weight_}};
  EXPECT_EQ(message({}, {.directory = "x"}),
            "SaveBest: there are no weights to save");
  EXPECT_EQ(message(weights, {}), "SaveBest: directory is empty");
  EXPECT_EQ(message(weights, {.directory = "x", .keep = 0}),
            "SaveBest: keep is 0; it must be at least 1");
  EXPECT_EQ(message(weights, {.directory = "x", .metric = ""}),
            "SaveBest: metric is empty");
}

INSTANTIATE_TEST_SUITE_P(
    SaveBest, CallbackConformanceTest,
    ::testing::Values(CallbackCase{
        "SaveBest",
        [](SecondsClock) {
          return std::make_unique<SaveBest>(
              std::vector<NamedTensor>{{"weight", at::zeros({1})}},
              SaveBestOptions{.directory = ::testing::TempDir() + "/suite",
                              .keep = 2});
        }}),
    CallbackCaseName);

}  // namespace
}  // namespace trainyard
