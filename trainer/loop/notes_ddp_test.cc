// What ranks tell each other in a step, and when a request on one of them takes
// effect.
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/make_backend.h"
#include "backends/testing/counted_backend.h"
#include "tools/launch/testing/test_rank.h"
#include "trainer/testing/line_rig.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

// One for all tests: its process group is the process's own.
CountedBackend& Ddp() {
  static auto* const backend = new CountedBackend(
      MakeBackend("ddp", {.device = at::Device(TestDevice())}));
  return *backend;
}

// 16 batches per rank, in windows of two.
TrainOptions Options() {
  return {.data = LinePoints(16 * 4 * Ddp().num_processes()),
          .length = Epochs(1),
          .per_device_batch_size = 4,
          .grad_accum_steps = 2,
          .report = Never()};
}

TEST(NotesTest, AStepWaitsForNothingButGradients) {
  LineRig rig(/*lr=*/0.1, &Ddp());
  CountingCollectives& counting = Ddp().counting();
  std::vector<int> waits;
  std::vector<int> notes;
  rig.trainer().Add(On<StepEnd>([&](const StepEnd&, Control&) {
    waits.push_back(counting.waits);
    notes.push_back(counting.notes);
  }));
  rig.trainer().Train(Options());
  ASSERT_EQ(waits.size(), 16);
  // The first step agrees on the reference weight.
  EXPECT_EQ(waits.back(), waits[0]);
  EXPECT_EQ(notes.back(), notes[0] + 8);
}

// Returns the batches of a run in which the last rank asks for a stop in its
// fifth or sixth batch, in an event of type E.
template <class E>
int64_t BatchesAfterRequestIn(int64_t batch) {
  LineRig rig(/*lr=*/0.1, &Ddp());
  int64_t seen = 0;
  rig.trainer().Add(On<E>([&](const E&, Control& control) {
    if (++seen == batch && Ddp().rank() + 1 == Ddp().num_processes()) {
      control.RequestStop("the last rank says so");
    }
  }));
  const RunResult result = rig.trainer().Train(Options());
  EXPECT_EQ(result.message, "the last rank says so");
  return result.clock.batches();
}

// Batches 5 and 6 are a window, and so are 7 and 8.
TEST(NotesTest, ARequestTakesEffectWithTheNextGradients) {
  EXPECT_EQ(BatchesAfterRequestIn<StepStart>(6), 6);
  EXPECT_EQ(BatchesAfterRequestIn<LossEnd>(6), 6);
  EXPECT_EQ(BatchesAfterRequestIn<BackwardEnd>(6), 8);
  EXPECT_EQ(BatchesAfterRequestIn<StepEnd>(6), 8);
  EXPECT_EQ(BatchesAfterRequestIn<StepEnd>(5), 6);
}

TEST(NotesTest, RanksAgreeOnSeconds) {
  LineRig rig(/*lr=*/0.1, &Ddp());
  TrainOptions options = Options();
  options.checkpoint.save = Every(Seconds(1000));
  std::vector<double> seconds;
  rig.trainer().Add(On<RunEnd>([&](const RunEnd& e, Control&) {
    seconds.push_back(e.clock.seconds());
  }));
  rig.trainer().Train(options);
  const std::vector<at::Tensor> all =
      Ddp().collectives().AllGather(at::full({1}, seconds.at(0), at::kDouble));
  for (const at::Tensor& other : all) {
    EXPECT_EQ(other.item<double>(), seconds[0]);
  }
}

}  // namespace
}  // namespace trainyard
