#include "trainer/checkpoint/testing/checkpointer_conformance.h"

#include <ATen/ops/full.h>
#include <gmock/gmock.h>

#include <limits>
#include <string>
#include <vector>

#include "trainer/checkpoint/testing/sample_checkpoint.h"
#include "trainer/state_tensor.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

void ZeroTensors(const Checkpoint& checkpoint) {
  for (const auto& [group, tensors] : checkpoint.tensors) {
    for (const NamedTensor& item : tensors) item.tensor.zero_();
  }
}

std::vector<int64_t> StepsOf(Checkpointer& checkpointer) {
  std::vector<int64_t> steps;
  const std::vector<StepInfo> list = checkpointer.List().value();
  for (const StepInfo& step : list) steps.push_back(step.step);
  return steps;
}

}  // namespace

void CheckpointerConformanceTest::SetUp() {
  checkpointer_ = GetParam().make();
  ASSERT_NE(checkpointer_, nullptr);
  ASSERT_TRUE(checkpointer_->Start(SingleRank()).ok());
}

TEST_P(CheckpointerConformanceTest, EmptyAtFirst) {
  EXPECT_TRUE(absl::IsNotFound(checkpointer_->Latest().status()));
  EXPECT_TRUE(absl::IsNotFound(checkpointer_->Load(1).status()));
  EXPECT_THAT(StepsOf(*checkpointer_), IsEmpty());
  EXPECT_THAT(checkpointer_->TakeWarnings(), IsEmpty());
}

TEST_P(CheckpointerConformanceTest, LoadsWhatWasSavedBitForBit) {
  Checkpoint saved = SampleCheckpoint(7);
  saved.finished = true;
  ASSERT_TRUE(checkpointer_->Save(saved).ok());
  for (const auto& restored :
       {checkpointer_->Latest(), checkpointer_->Load(7)}) {
    ASSERT_TRUE(restored.ok()) << restored.status();
    EXPECT_EQ(Describe(restored->checkpoint), Describe(saved));
    EXPECT_EQ(restored->checkpoint.world_size, 1);
    EXPECT_TRUE(restored->checkpoint.own_parts);
    EXPECT_EQ(restored->path, checkpointer_->PathOf(7));
    EXPECT_THAT(restored->warnings, IsEmpty());
    for (const auto& [group, tensors] : restored->checkpoint.tensors) {
      for (size_t i = 1; i < tensors.size(); ++i) {
        EXPECT_LT(tensors[i - 1].name, tensors[i].name) << group;
      }
    }
  }
}

TEST_P(CheckpointerConformanceTest, SharesNoMemoryWithTheRun) {
  const Checkpoint live = SampleCheckpoint(7);
  ASSERT_TRUE(checkpointer_->Save(live).ok());
  ZeroTensors(live);
  const absl::StatusOr<Restored> first = checkpointer_->Latest();
  EXPECT_EQ(Describe(first->checkpoint), Describe(SampleCheckpoint(7)));
  ZeroTensors(first->checkpoint);
  EXPECT_EQ(Describe(checkpointer_->Latest()->checkpoint),
            Describe(SampleCheckpoint(7)));
}

TEST_P(CheckpointerConformanceTest, LatestIsTheOneSavedLast) {
  for (const int64_t step : {100, 200, 50}) {
    ASSERT_TRUE(checkpointer_->Save(SampleCheckpoint(step)).ok());
  }
  EXPECT_EQ(checkpointer_->Latest()->checkpoint.step, 50);
  EXPECT_THAT(StepsOf(*checkpointer_), ElementsAre(100, 200, 50));
  EXPECT_EQ(Describe(checkpointer_->Load(100)->checkpoint),
            Describe(SampleCheckpoint(100)));
}

TEST_P(CheckpointerConformanceTest, SaveReplacesTheSameStep) {
  ASSERT_TRUE(checkpointer_->Save(SampleCheckpoint(5)).ok());
  ASSERT_TRUE(checkpointer_->Save(SampleCheckpoint(8)).ok());
  Checkpoint other = SampleCheckpoint(6);
  other.step = 5;
  ASSERT_TRUE(checkpointer_->Save(other).ok());
  EXPECT_EQ(Describe(checkpointer_->Load(5)->checkpoint), Describe(other));
  EXPECT_THAT(StepsOf(*checkpointer_), ElementsAre(8, 5));
}

TEST_P(CheckpointerConformanceTest, ListDescribesTheCheckpoints) {
  Checkpoint saved = SampleCheckpoint(12);
  saved.finished = true;
  ASSERT_TRUE(checkpointer_->Save(SampleCheckpoint(11)).ok());
  ASSERT_TRUE(checkpointer_->Save(saved).ok());
  const std::vector<StepInfo> list = checkpointer_->List().value();
  ASSERT_EQ(list.size(), 2);
  EXPECT_FALSE(list[0].finished);
  EXPECT_EQ(list[1].step, 12);
  EXPECT_EQ(list[1].epoch, saved.epoch);
  EXPECT_TRUE(list[1].finished);
  EXPECT_EQ(list[1].metrics, saved.metrics);
  EXPECT_EQ(list[1].path, checkpointer_->PathOf(12));
  EXPECT_LT(list[0].sequence, list[1].sequence);
}

TEST_P(CheckpointerConformanceTest, RejectsNegativeSteps) {
  Checkpoint bad = SampleCheckpoint(1);
  bad.step = -1;
  const absl::Status rejected = checkpointer_->Save(bad);
  EXPECT_TRUE(absl::IsInvalidArgument(rejected)) << rejected;
  EXPECT_THAT(Message(rejected), HasSubstr("-1; it must be at least 0"));
  EXPECT_THAT(StepsOf(*checkpointer_), IsEmpty());
}

// Models and optimizers are groups; averages are tensors of a callback's part.
TEST_P(CheckpointerConformanceTest, RejectsNanAndKeepsTheEarlierCheckpoint) {
  ASSERT_TRUE(checkpointer_->Save(SampleCheckpoint(1)).ok());
  const at::Tensor nan =
      at::full({2}, std::numeric_limits<double>::quiet_NaN());
  Checkpoint group = SampleCheckpoint(2);
  group.tensors["model"].push_back({"zz", nan});
  Checkpoint part = SampleCheckpoint(2);
  SetTensor(part.parts["callback ModelEma"], "zz", nan);
  for (const Checkpoint& bad : {group, part}) {
    const absl::Status rejected = checkpointer_->Save(bad);
    EXPECT_TRUE(absl::IsFailedPrecondition(rejected)) << rejected;
    EXPECT_THAT(Message(rejected),
                AllOf(HasSubstr("zz"), HasSubstr("contains NaN")));
  }
  EXPECT_THAT(StepsOf(*checkpointer_), ElementsAre(1));
  EXPECT_EQ(checkpointer_->Latest()->checkpoint.step, 1);
}

TEST_P(CheckpointerConformanceTest, GradientsMayContainNan) {
  Checkpoint gradients = SampleCheckpoint(2);
  SetTensor(gradients.parts["gradients"], "zz",
            at::full({2}, std::numeric_limits<double>::quiet_NaN()));
  EXPECT_TRUE(checkpointer_->Save(gradients).ok());
  EXPECT_EQ(checkpointer_->Latest()->checkpoint.step, 2);
}

}  // namespace trainyard
