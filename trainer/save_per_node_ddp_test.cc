// Two machines of two processes each that share no disk, played by folders.
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "backends/make_backend.h"
#include "tools/launch/testing/test_rank.h"
#include "trainer/error_message.h"
#include "trainer/testing/line_rig.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

Backend& Ddp() {
  static const std::unique_ptr<Backend> backend = [] {
    setenv("LOCAL_RANK", std::to_string(TestRank() % 2).c_str(), 1);
    setenv("LOCAL_WORLD_SIZE", "2", 1);
    setenv("GLOO_SOCKET_IFNAME", "lo", 1);
    return MakeBackend("ddp", {.device = at::Device(TestDevice())});
  }();
  return *backend;
}

class SavePerNodeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Ddp().collectives().Barrier();
    if (Ddp().collectives().local_rank() == 0) {
      std::filesystem::remove_all(Folder(Node()));
    }
    Ddp().collectives().Barrier();
  }

  static int Node() { return TestRank() / 2; }
  static std::string Folder(int node) {
    return std::string(std::getenv("TEST_TMPDIR")) + "/node" +
           std::to_string(node);
  }

  // 27 samples in global batches of 8 and windows of two.
  static TrainOptions Options(bool save_per_node) {
    return {.data = LinePoints(27),
            .length = Epochs(6),
            .per_device_batch_size = 2,
            .grad_accum_steps = 2,
            .checkpoint = {.directory = Folder(Node()),
                           .save_per_node = save_per_node,
                           .save = Every(Batches(3))},
            .resume = Resume::kIfPresent,
            .seed = 3};
  }

  // Returns the weights, and what was thrown or why it ended.
  static std::pair<at::Tensor, std::string> Train(const TrainOptions& options,
                                                  Backend* backend,
                                                  int64_t stop_at = -1) {
    LineRig rig(/*lr=*/0.1, backend);
    int64_t steps = 0;
    rig.trainer().Add(On<StepEnd>([&](const StepEnd&, Control& control) {
      if (++steps == stop_at) control.RequestStop("the test says so");
    }));
    std::string message;
    try {
      message = rig.trainer().Train(options).message;
    } catch (const std::exception& e) {
      message = ErrorMessage(e);
    }
    return {rig.weight(), message};
  }

  static at::Tensor Whole() {
    TrainOptions options = Options(false);
    options.checkpoint = {};
    return Train(options, &Ddp()).first;
  }
};

TEST_F(SavePerNodeTest, WithoutItFoldersThatAreNotSharedAreRefused) {
  const std::string message = Train(Options(false), &Ddp()).second;
  EXPECT_THAT(message, HasSubstr("does not see the folder of rank 0"));
  EXPECT_THAT(message, HasSubstr("save_per_node"));
}

TEST_F(SavePerNodeTest, ResumesToTheBitWhereverItWasStopped) {
  const at::Tensor whole = Whole();
  for (const int64_t stop_at : {4, 5}) {  // at a window's end, and within one
    SetUp();
    EXPECT_EQ(Train(Options(true), &Ddp(), stop_at).second, "the test says so");
    const auto [weight, message] = Train(Options(true), &Ddp());
    EXPECT_EQ(message, "");
    EXPECT_TRUE(at::equal(weight, whole)) << stop_at;
  }
}

// As after a crash between the commits of two nodes.
TEST_F(SavePerNodeTest, ResumesFromTheNewestThatAllNodesHave) {
  const at::Tensor whole = Whole();
  Train(Options(true), &Ddp(), 12);
  Ddp().collectives().Barrier();
  if (TestRank() == 2) {
    std::string newest;
    for (const auto& entry : std::filesystem::directory_iterator(Folder(1))) {
      const std::string name = entry.path().filename();
      if (name.starts_with("step-")) newest = std::max(newest, name);
    }
    std::filesystem::remove_all(Folder(1) + "/" + newest);
  }
  Ddp().collectives().Barrier();
  const auto [weight, message] = Train(Options(true), &Ddp());
  EXPECT_EQ(message, "");
  EXPECT_TRUE(at::equal(weight, whole));
}

TEST_F(SavePerNodeTest, ANodeWithoutCheckpointsIsNamed) {
  Train(Options(true), &Ddp(), 4);
  Ddp().collectives().Barrier();
  if (TestRank() == 2) std::filesystem::remove_all(Folder(1));
  Ddp().collectives().Barrier();
  EXPECT_THAT(Train(Options(true), &Ddp()).second,
              HasSubstr("there is no checkpoint on the node of rank 2"));
}

// All processes, and one alone, resume from what the second node saved.
TEST_F(SavePerNodeTest, EachNodesFolderIsCompleteByItself) {
  const at::Tensor whole = Whole();
  Train(Options(true), &Ddp(), 5);
  Ddp().collectives().Barrier();
  const std::string alone = Folder(1) + "_alone";
  if (TestRank() == 2) {
    std::filesystem::remove_all(alone);
    std::filesystem::copy(Folder(1), alone,
                          std::filesystem::copy_options::recursive);
    TrainOptions options = Options(false);
    options.checkpoint.directory = alone;
    options.per_device_batch_size = 8;
    const auto [weight, message] = Train(options, nullptr);
    EXPECT_EQ(message, "");
    EXPECT_TRUE(at::allclose(weight, whole, 1e-5, 1e-6));
  }
  Ddp().collectives().Barrier();
  TrainOptions options = Options(false);
  options.checkpoint.directory = Folder(1);
  const auto [weight, message] = Train(options, &Ddp());
  EXPECT_EQ(message, "");
  EXPECT_TRUE(at::allclose(weight, whole, 1e-5, 1e-6));
}

}  // namespace
}  // namespace trainyard
