// A stream that two ranks share: each opens it and takes its part.
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "backends/make_backend.h"
#include "backends/single_process.h"
#include "trainer/checkpoint/testing/memory_folder.h"
#include "trainer/testing/line_rig.h"
#include "trainer/testing/line_stream.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

Backend& Ddp() {
  static const std::unique_ptr<Backend> backend = MakeBackend("ddp");
  return *backend;
}

struct Outcome {
  RunResult result;
  at::Tensor weight;
};

Outcome Train(TrainOptions options, Backend& backend, int64_t stop_at = -1) {
  options.per_device_batch_size /= backend.num_processes();
  LineRig rig(0.1, &backend);
  int64_t batches = 0;
  rig.trainer().Add(On<StepEnd>([&](const StepEnd&, Control& control) {
    if (++batches == stop_at) control.RequestStop("the test says so");
  }));
  Outcome outcome{.result = rig.trainer().Train(options)};
  outcome.weight = rig.weight();
  return outcome;
}

// 13 points in global batches of 4, windows of 2: 4 batches per epoch. Of the
// last point, rank 1 has nothing.
TrainOptions Options() {
  return {.source = LineStream(13),
          .eval_sets = {{.name = "eval", .source = LineStream(5)}},
          .length = Updates(5),
          .per_device_batch_size = 4,
          .grad_accum_steps = 2,
          .seed = 5};
}

TEST(StreamDdpTest, TrainsLikeOneProcess) {
  const Outcome two = Train(Options(), Ddp());
  const auto alone = MakeSingleProcessBackend(at::kCPU);
  const Outcome one = Train(Options(), *alone);
  EXPECT_EQ(two.result.clock.samples(), one.result.clock.samples());
  EXPECT_EQ(two.result.clock.updates(), 5);
  EXPECT_TRUE(at::allclose(two.weight, one.weight, 1e-5, 1e-6))
      << two.weight << one.weight;
}

TEST(StreamDdpTest, ResumesAtEveryBatchToTheBit) {
  const std::string folder = MemoryFolder() + "/stream_ddp";
  const Outcome straight = Train(Options(), Ddp());
  TrainOptions options = Options();
  options.checkpoint = {.directory = folder};
  options.resume = Resume::kIfPresent;
  // 5 updates: 4 batches, 4 batches, and 2 of the third epoch.
  for (int64_t stop = 1; stop < 10; ++stop) {
    Ddp().collectives().Barrier();
    if (Ddp().rank() == 0) std::filesystem::remove_all(folder);
    Ddp().collectives().Barrier();
    EXPECT_EQ(Train(options, Ddp(), stop).result.ending, RunEnding::kStopped);
    const Outcome resumed = Train(options, Ddp());
    EXPECT_TRUE(at::equal(resumed.weight, straight.weight)) << stop;
    EXPECT_EQ(resumed.result.clock.samples(), straight.result.clock.samples());
  }
}

}  // namespace
}  // namespace trainyard
