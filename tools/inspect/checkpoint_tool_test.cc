#include "tools/inspect/checkpoint_tool.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "tools/inspect/checkpoint_report.h"
#include "tools/inspect/tensor_statistics.h"
#include "tools/inspect/testing/run_tool.h"
#include "trainer/checkpoint/safetensors/safetensors.h"
#include "trainer/checkpoint/store.h"
#include "trainer/checkpoint/testing/sample_checkpoint.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A run with checkpoints of steps 1 and 2.
std::string SampleRun() {
  const std::string folder = TestFolder() + "/run";
  const auto store = CheckpointStore::Open({.directory = folder});
  EXPECT_TRUE(store.ok()) << store.status();
  EXPECT_TRUE((*store)->Save(SampleCheckpoint(1)).ok());
  EXPECT_TRUE((*store)->Save(SampleCheckpoint(2)).ok());
  return folder;
}

TEST(CheckpointToolTest, HeaderExample) {
  const std::string run = SampleRun();
  std::ostringstream out;
  std::ostringstream err;
  const int code = RunCheckpointTool({"verify", run}, out, err);
  EXPECT_EQ(code, 0) << err.str();
}

TEST(CheckpointReportTest, HeaderExample) {
  const std::vector<StepInfo> steps = {{.step = 7, .epoch = 1, .path = "x"}};
  const Checkpoint before = SampleCheckpoint(1), after = SampleCheckpoint(2);
  std::ostringstream out;
  PrintSteps(steps, out);
  EXPECT_THAT(out.str(), HasSubstr("         7       1"));
  const bool same = PrintDifferences(before, after, out);
  EXPECT_FALSE(same);
  EXPECT_TRUE(PrintDifferences(after, after, out));
}

TEST(TensorStatisticsTest, HeaderExample) {
  const at::Tensor weight = at::full({2, 3}, 0.5);
  const std::string text = DescribeTensor(weight);
  EXPECT_EQ(text, "Float [2, 3] min 0.5 max 0.5 mean 0.5 deviation 0");
}

TEST(CheckpointToolTest, ListsAndVerifies) {
  const std::string run = SampleRun();
  const ToolOutcome list = RunTool({"list", run});
  EXPECT_EQ(list.code, 0) << list.err;
  EXPECT_THAT(list.out, AllOf(HasSubstr("         1 "),
                              HasSubstr("\"eval_loss\" 0.333333")));
  EXPECT_THAT(RunTool({"verify", run}).out, HasSubstr("2 verified"));
  const std::string step = run + "/step-0000000002";
  EXPECT_EQ(RunTool({"verify", step}).code, 0);
  FlipBit(step + "/state-r00000.pb", 20);
  for (const std::string& path : {run, step}) {
    const ToolOutcome damaged = RunTool({"verify", path});
    EXPECT_EQ(damaged.code, 1);
    EXPECT_THAT(damaged.out,
                HasSubstr("DAMAGED " + step + "/state-r00000.pb: is damaged"));
  }
}

TEST(CheckpointToolTest, ShowsTensorsWithStatistics) {
  const std::string run = SampleRun();
  const ToolOutcome show = RunTool({"show", run});
  EXPECT_EQ(show.code, 0) << show.err;
  EXPECT_THAT(
      show.out,
      AllOf(HasSubstr("step 2, epoch 0, 64 samples"),
            HasSubstr("\"layer.weight\": Float [4, 3] min 2 max 13 mean "
                      "7.5 deviation 3.4"),
            HasSubstr("\"whole\": -98"), HasSubstr("\"lr\": \"0.1\"")));
}

TEST(CheckpointToolTest, ComparesTwo) {
  const std::string run = SampleRun();
  const std::string one = run + "/step-0000000001";
  EXPECT_EQ(RunTool({"diff", one, one}).out, "equal, bit for bit\n");
  const ToolOutcome diff = RunTool({"diff", one, run});
  EXPECT_EQ(diff.code, 1);
  EXPECT_THAT(diff.out,
              AllOf(HasSubstr("step: 1 | 2\n"),
                    HasSubstr("model \"layer.weight\": 12 of 12 elements "
                              "differ, by at most 1\n"),
                    HasSubstr("part \"part\", \"whole\": -99 | -98\n")));
}

TEST(CheckpointToolTest, ExportedWeightsCanBeImported) {
  const std::string run = SampleRun();
  const std::string folder = run + "/../out";
  ASSERT_EQ(RunTool({"export", run, folder, "--max_shard_bytes=40"}).code, 0);
  EXPECT_THAT(NamesIn(folder),
              ::testing::Contains("model.safetensors.index.json"));
  const std::string copy = run + "/../copy";
  const ToolOutcome import = RunTool({"import", folder, copy});
  ASSERT_EQ(import.code, 0) << import.err;
  const auto store =
      CheckpointStore::Open({.directory = copy, .access = Access::kRead});
  Checkpoint expected;
  expected.tensors["model"] = SampleCheckpoint(2).tensors["model"];
  EXPECT_EQ(Describe((*store)->Latest()->checkpoint), Describe(expected));
  // A run that has checkpoints is not overwritten.
  const ToolOutcome again = RunTool({"import", folder, copy});
  EXPECT_EQ(again.code, 2);
  EXPECT_THAT(again.err, HasSubstr("has checkpoints already"));
}

TEST(CheckpointToolTest, ImportsAFileOfPython) {
  const std::string file = "trainer/checkpoint/pt/testdata/checkpoint.pt";
  const std::string model = TestFolder() + "/model";
  ToolOutcome import = RunTool({"import", file, model});
  ASSERT_EQ(import.code, 0) << import.err;
  EXPECT_EQ(import.out, "imported 9 tensors into " + model + "\n");
  EXPECT_THAT(RunTool({"show", model}).out, HasSubstr("1.running_mean"));
  import = RunTool({"import", file, TestFolder() + "/all", "--key="});
  EXPECT_THAT(import.out, HasSubstr("imported 27 tensors"));
  import = RunTool({"import", file, TestFolder() + "/none", "--key=modell"});
  EXPECT_EQ(import.code, 1);
  EXPECT_THAT(import.err, HasSubstr("has nothing under the key \"modell\""));
}

TEST(CheckpointToolTest, RejectsInvalidArguments) {
  EXPECT_EQ(RunTool({}).code, 2);
  EXPECT_THAT(RunTool({"look", "x"}).err, HasSubstr("'look' is not a command"));
  EXPECT_THAT(RunTool({"diff", "x"}).err, HasSubstr("takes 2 paths, not 1"));
  EXPECT_THAT(RunTool({"list", "/no/where"}).err,
              HasSubstr("/no/where: there is no such folder"));
  EXPECT_EQ(RunTool({"list", ".", "--group=x"}).code, 2);
  EXPECT_THAT(RunTool({"--help"}).out, HasSubstr("checkpoint verify"));
}

}  // namespace
}  // namespace trainyard
