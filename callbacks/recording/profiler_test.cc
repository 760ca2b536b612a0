#include "callbacks/recording/profiler.h"

#include <ATen/ops/ones.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "callbacks/testing/fake_run.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

std::string TracePath() { return ::testing::TempDir() + "/trace.json"; }

std::string ReadTrace() {
  std::ifstream file(TracePath());
  return std::string(std::istreambuf_iterator<char>(file), {});
}

int CountOf(const std::string& text, const std::string& what) {
  int count = 0;
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

// A run of 8 batches, each of which multiplies once.
FakeRunOptions Multiplying() {
  return {.backward = [] { at::ones({2, 2}).mm(at::ones({2, 2})); }};
}

class ProfilerTest : public ::testing::Test {
 protected:
  ProfilerTest() { std::filesystem::remove(TracePath()); }
};

TEST_F(ProfilerTest, TracesTheChosenStepsOnly) {
  FakeRun run(Multiplying());
  run.Add(Profiler({.path = TracePath(), .first_batch = 3, .batches = 4}));
  EXPECT_EQ(run.Play(), RunEnding::kFinished) << run.message();
  const std::string trace = ReadTrace();
  EXPECT_THAT(trace, HasSubstr("\"traceEvents\""));
  EXPECT_EQ(CountOf(trace, "\"aten::mm\""), 4);
}

TEST_F(ProfilerTest, SecondRunReplacesTheFile) {
  FakeRun run(Multiplying());
  run.Add(Profiler({.path = TracePath(), .first_batch = 1, .batches = 1}));
  run.Play();
  EXPECT_EQ(run.Play(), RunEnding::kFinished) << run.message();
  EXPECT_EQ(CountOf(ReadTrace(), "\"aten::mm\""), 1);
}

TEST_F(ProfilerTest, RunThatEndsDuringTheStepsWritesThem) {
  FakeRunOptions options = Multiplying();
  options.fail_at_batch = 4;
  FakeRun run(options);
  run.Add(Profiler({.path = TracePath(), .first_batch = 2, .batches = 100}));
  EXPECT_EQ(run.Play(), RunEnding::kError);
  EXPECT_EQ(run.message(), "no memory");
  EXPECT_EQ(CountOf(ReadTrace(), "\"aten::mm\""), 2);
}

TEST_F(ProfilerTest, RunThatEndsBeforeTheStepsWritesNothing) {
  FakeRun run(Multiplying());
  run.Add(Profiler({.path = TracePath(), .first_batch = 9}));
  EXPECT_EQ(run.Play(), RunEnding::kFinished);
  EXPECT_FALSE(std::filesystem::exists(TracePath()));
}

TEST_F(ProfilerTest, AFileThatCannotBeWrittenIsAnError) {
  FakeRun run(Multiplying());
  run.Add(Profiler({.path = "/no/such/folder/trace.json", .first_batch = 1}));
  EXPECT_EQ(run.Play(), RunEnding::kError);
  EXPECT_THAT(run.message(), HasSubstr("/no/such/folder/trace.json"));
}

TEST_F(ProfilerTest, RefusesBadOptionsByName) {
  const auto message = [](const ProfilerOptions& options) -> std::string {
    try {
      Profiler profiler(options);
    } catch (const c10::ValueError& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_THAT(message({}), HasSubstr("Profiler: path is empty"));
  EXPECT_THAT(message({.path = "x", .first_batch = 0}),
              HasSubstr("first_batch is 0"));
  EXPECT_THAT(message({.path = "x", .batches = 0}), HasSubstr("batches is 0"));
}

}  // namespace
}  // namespace trainyard
