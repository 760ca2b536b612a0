// Resuming from a chosen checkpoint, with fresh optimizers, and from a
// checkpointer or file system of the user.
#include <ATen/ops/equal.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/make_backend.h"
#include "schedulers/linear.h"
#include "tools/testing/error_of.h"
#include "trainer/checkpoint/store.h"
#include "trainer/checkpoint/testing/memory_checkpointer.h"
#include "trainer/checkpoint/testing/sample_checkpoint.h"
#include "trainer/io/testing/memory_file_system.h"
#include "trainer/loop/run_checkpoints.h"
#include "trainer/testing/line_rig.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The example in trainer/checkpoint/checkpointer.h.
using MyCheckpointer = MemoryCheckpointer;

struct Outcome {
  at::Tensor weight;
  // The checkpoint that was loaded.
  std::string loaded;
  // The learning rate of each update.
  std::vector<double> rates;
};

// Stops the run after an update; resets the optimizer after an update.
struct Interruption {
  int64_t stop = -1;
  int64_t reset = -1;
};

class ResumeFromTest : public ::testing::Test {
 protected:
  void SetUp() override { folder_ = TestFolder(); }

  // 4 epochs of 5 updates, saved after each epoch.
  TrainOptions Options(const std::string& name = "run") const {
    return {.data = LinePoints(20),
            .length = Epochs(4),
            .per_device_batch_size = 4,
            .checkpoint = {.directory = Folder(name),
                           .keep = {.last = std::nullopt}}};
  }

  std::string Folder(const std::string& name) const {
    return folder_ + "/" + name;
  }

  static Outcome Train(const TrainOptions& options, Interruption at = {}) {
    LineRig rig;
    std::vector<NamedTensor> initial;
    for (const NamedTensor& item : rig.optimizer().NamedTensors()) {
      initial.push_back({item.name, item.tensor.clone()});
    }
    Outcome outcome;
    rig.trainer().Add(On<UpdateEnd>([&](const UpdateEnd& e, Control& control) {
      outcome.rates.push_back(rig.optimizer().Field(0, "lr"));
      if (e.clock.updates() == at.stop) control.RequestStop("test");
      if (e.clock.updates() == at.reset) rig.optimizer().LoadTensors(initial);
    }));
    rig.trainer().Add(On<CheckpointLoaded>(
        [&](const CheckpointLoaded& e, Control&) { outcome.loaded = e.path; }));
    rig.trainer().Train(options);
    outcome.weight = rig.weight();
    return outcome;
  }

  static std::string Error(const TrainOptions& options) {
    return ErrorOf<c10::ValueError>([&] { Train(options); });
  }

  std::string folder_;
};

TEST_F(ResumeFromTest, AChosenStepEndsLikeTheUninterruptedRun) {
  const Outcome whole = Train(Options());
  TrainOptions options = Options();
  options.resume = Resume::kRequired;
  options.resume_from = {.step = 10};
  const Outcome resumed = Train(options);
  EXPECT_EQ(resumed.loaded, Folder("run") + "/step-0000000010");
  EXPECT_EQ(resumed.rates.size(), 10);
  EXPECT_TRUE(at::equal(resumed.weight, whole.weight));
}

TEST_F(ResumeFromTest, AnotherRunsCheckpointIsReadAndNotChanged) {
  const Outcome whole = Train(Options());
  const std::vector<std::string> before = NamesIn(Folder("run"));
  TrainOptions options = Options("other");
  options.resume = Resume::kRequired;
  options.resume_from = {.path = Folder("run") + "/step-0000000005"};
  const Outcome resumed = Train(options);
  EXPECT_EQ(resumed.loaded, options.resume_from.path);
  EXPECT_TRUE(at::equal(resumed.weight, whole.weight));
  EXPECT_EQ(NamesIn(Folder("run")), before);
  EXPECT_THAT(NamesIn(Folder("other")),
              ElementsAre("LOCK", "step-0000000010", "step-0000000015",
                          "step-0000000020"));
}

// As after a preemption: the same command continues its own run.
TEST_F(ResumeFromTest, IfPresentPrefersTheRunsOwnCheckpointToThePath) {
  const Outcome whole = Train(Options());
  TrainOptions options = Options("other");
  options.resume = Resume::kIfPresent;
  options.resume_from = {.path = Folder("run") + "/step-0000000005"};
  const Outcome first = Train(options, {.stop = 12});
  EXPECT_EQ(first.loaded, options.resume_from.path);
  const Outcome second = Train(options);
  EXPECT_EQ(second.loaded, Folder("other") + "/step-0000000012");
  EXPECT_TRUE(at::equal(second.weight, whole.weight));
}

TEST_F(ResumeFromTest, ErrorsNameTheOptionAndTheStepsThatExist) {
  Train(Options());
  TrainOptions options = Options();
  options.resume = Resume::kRequired;
  options.resume_from = {.step = 7};
  EXPECT_THAT(Error(options), AllOf(HasSubstr("resume_from.step is 7"),
                                    HasSubstr("the steps 5 10 15 20")));
  options.resume_from = {.path = Folder("nowhere")};
  EXPECT_THAT(Error(options), AllOf(HasSubstr("resume_from.path is "),
                                    HasSubstr("there is no checkpoint")));
  options.resume_from = {.step = 5, .path = Folder("run")};
  EXPECT_THAT(Error(options), HasSubstr("set only one of them"));
  options.resume_from = {.step = 5};
  options.resume = Resume::kIfPresent;
  EXPECT_THAT(Error(options), HasSubstr("resume must be Resume::kRequired"));
  options.resume_from = {.path = Folder("run")};
  options.resume = Resume::kNever;
  EXPECT_THAT(Error(options), HasSubstr("resume is Resume::kNever"));
  options = Options();
  options.checkpoint.directory = "";
  options.resume = Resume::kRequired;
  EXPECT_THAT(Error(options), HasSubstr("checkpoint.directory is empty"));
}

TEST_F(ResumeFromTest, ACheckpointerOfTheUserIsSavedToAndResumedFrom) {
  const Outcome whole = Train(Options());
  const auto mine = std::make_shared<MyCheckpointer>();
  TrainOptions options = Options();
  options.checkpoint.directory = "";
  options.checkpoint.checkpointer = mine;
  Train(options, {.stop = 12});
  EXPECT_EQ(mine->List()->size(), 3);
  options.resume = Resume::kRequired;
  const Outcome resumed = Train(options);
  EXPECT_EQ(resumed.loaded, "memory/12");
  EXPECT_TRUE(at::equal(resumed.weight, whole.weight));
  EXPECT_EQ(mine->Latest()->checkpoint.step, 20);

  options.checkpoint.directory = Folder("run");
  EXPECT_THAT(Error(options), HasSubstr("set only one of them"));
}

TEST_F(ResumeFromTest, HeaderExampleOfCheckpointer) {
  LineRig rig;
  Trainer& trainer = rig.trainer();
  const DatasetPtr train = LinePoints(8);
  const auto mine = std::make_shared<MyCheckpointer>();
  trainer.Train({.data = train,
                 .length = Epochs(1),
                 .checkpoint = {.checkpointer = mine}});
  EXPECT_EQ(mine->List()->size(), 1);
}

TEST_F(ResumeFromTest, HeaderExampleOfCheckpointOptions) {
  std::filesystem::current_path(folder_);
  LineRig rig;
  Trainer& trainer = rig.trainer();
  const DatasetPtr train = LinePoints(8);
  trainer.Train(
      {.data = train,
       .length = Epochs(1),
       .checkpoint = {.directory = "run", .save = Every(Updates(1000))},
       .resume = Resume::kIfPresent});
  EXPECT_THAT(NamesIn("run"), ElementsAre("LOCK", "step-0000000001"));
}

TEST_F(ResumeFromTest, HeaderExampleOfRunCheckpoints) {
  const auto made = MakeBackend("sp");
  Backend& backend = *made;
  const TrainOptions options = Options();
  const Checkpoint checkpoint = SampleCheckpoint(7);
  RunCheckpoints checkpoints(options.checkpoint, backend);
  std::optional<Restored> restored =
      checkpoints.Find(options.resume, options.resume_from);
  const std::string path = checkpoints.Save(checkpoint);
  checkpoints.Finish();
  EXPECT_FALSE(restored.has_value());
  EXPECT_EQ(LoadCheckpoint(path)->checkpoint.step, 7);
}

TEST_F(ResumeFromTest, AFileSystemOfTheUserIsUsed) {
  const Outcome whole = Train(Options());
  MemoryFileSystem disk;
  TrainOptions options = Options();
  options.checkpoint.directory = "/not_on_the_real_disk";
  options.checkpoint.files = &disk;
  Train(options, {.stop = 12});
  options.resume = Resume::kRequired;
  EXPECT_TRUE(at::equal(Train(options).weight, whole.weight));
  EXPECT_FALSE(std::filesystem::exists("/not_on_the_real_disk"));
}

// The oracle is an uninterrupted run whose optimizer is reset by a callback.
TEST_F(ResumeFromTest, FreshOptimizersKeepWeightsAndPosition) {
  const Outcome whole = Train(Options());
  const Outcome reset = Train(Options("reset"), {.reset = 10});
  TrainOptions options = Options();
  options.resume = Resume::kRequired;
  options.resume_from = {.step = 10, .fresh_optimizers = true};
  const Outcome resumed = Train(options);
  EXPECT_EQ(resumed.rates.size(), 10);
  EXPECT_TRUE(at::equal(resumed.weight, reset.weight));
  EXPECT_FALSE(at::equal(resumed.weight, whole.weight));
}

TEST_F(ResumeFromTest, FreshOptimizersRestartSchedulesForTheRemainingUpdates) {
  TrainOptions options = Options();
  options.schedule = Linear();
  Train(options);
  TrainOptions half = options;
  half.length = Epochs(2);
  half.checkpoint.directory = Folder("half");
  const std::vector<double> rates_of_ten_updates = Train(half).rates;
  options.resume = Resume::kRequired;
  options.resume_from = {.step = 10, .fresh_optimizers = true};
  EXPECT_EQ(Train(options).rates, rates_of_ten_updates);
}

}  // namespace
}  // namespace trainyard
