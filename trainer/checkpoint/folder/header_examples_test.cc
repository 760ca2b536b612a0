// The examples in the headers of this folder. tools/lint/examples.py compares
// them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "trainer/checkpoint/folder/file_lock.h"
#include "trainer/checkpoint/folder/retention.h"
#include "trainer/checkpoint/folder/run_folder.h"
#include "trainer/checkpoint/folder/step_names.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

class HeaderExamplesTest : public ::testing::Test {
 protected:
  // The examples name files without a folder.
  void SetUp() override {
    std::filesystem::current_path(::testing::TempDir());
    std::filesystem::remove_all("run");
    std::filesystem::create_directory("run");
  }
};

absl::Status LockTwice() {
  absl::StatusOr<FileLock> lock = FileLock::Take("run/LOCK");
  if (!lock.ok()) return lock.status();  // Unavailable, and who has it
  return FileLock::Take("run/LOCK").status();
}

TEST_F(HeaderExamplesTest, FileLock) {
  EXPECT_TRUE(absl::IsUnavailable(LockTwice()));
}

TEST_F(HeaderExamplesTest, Retention) {
  std::vector<std::string> removed;
  const auto Remove = [&](const std::string& path) { removed.push_back(path); };
  std::vector<StepInfo> steps;
  for (int64_t step = 1; step <= 5; ++step) {
    steps.push_back({.step = step,
                     .sequence = step,
                     .metrics = {{"eval_loss", static_cast<double>(step)}},
                     .path = StepName(step)});
  }
  const RetentionOptions keep{.last = 3, .best = 1, .metric = "eval_loss"};
  for (const StepInfo& step : StepsToRemove(steps, keep)) {
    Remove(step.path);
  }
  EXPECT_THAT(removed, ElementsAre("step-0000000002"));
}

absl::Status SaveOne(uint64_t bytes) {
  absl::StatusOr<RunFolder> run = RunFolder::Open("run", Access::kWrite);
  if (!run.ok()) return run.status();
  absl::StatusOr<std::string> folder = run->Begin(7, bytes);
  if (!folder.ok()) return folder.status();
  absl::Status done = run->Commit(*folder, 7);  // run/step-0000000007
  return done;
}

TEST_F(HeaderExamplesTest, RunFolder) {
  EXPECT_TRUE(SaveOne(100).ok());
  EXPECT_TRUE(std::filesystem::is_directory("run/step-0000000007"));
}

TEST_F(HeaderExamplesTest, StepNames) {
  const std::string id(32, 'a');
  StepName(12000);                         // "step-0000012000"
  TemporaryName(12000, ThisWriter(), id);  // ".tmp-step-0000012000.…"
  EXPECT_EQ(StepName(12000), "step-0000012000");
  EXPECT_THAT(TemporaryName(12000, ThisWriter(), id),
              StartsWith(".tmp-step-0000012000."));
}

}  // namespace
}  // namespace trainyard
