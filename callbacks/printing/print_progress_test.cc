#include "callbacks/printing/print_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "callbacks/testing/fake_run.h"
#include "tools/testing/memory_output.h"

namespace trainyard {
namespace {

// What is printed of a run.
std::string Printed(const FakeRunOptions& options) {
  MemoryOutput output;
  FakeRun run(options);
  run.Add(PrintProgress({.output = output.file(), .clock = run.seconds()}));
  run.Play();
  return output.Written();
}

TEST(PrintProgressTest, HeaderExample) {
  EXPECT_EQ(
      Printed({.num_epochs = 2, .batches_per_epoch = 469, .batch_size = 128}),
      "Training on cpu (fake): 2 epochs of 469 batches of 128, 938 updates\n"
      "Epoch 1/2\n"
      "Epoch 2/2\n"
      "Finished after 2 epochs, 938 updates, 120k samples in 7:50\n");
}

TEST(PrintProgressTest, SaysWhyARunFailed) {
  EXPECT_EQ(
      Printed({.num_epochs = 1, .fail_at_batch = 2}),
      "Training on cpu (fake): 1 epoch of 4 batches of 8, 4 updates\n"
      "Epoch 1/1\n"
      "Failed (no memory) after 0 epochs, 1 update, 8.0 samples in 0:01\n");
}

TEST(PrintProgressTest, RefusesBadOptions) {
  EXPECT_THROW(PrintProgress({.output = nullptr}), std::invalid_argument);
  EXPECT_THROW(PrintProgress({.clock = nullptr}), std::invalid_argument);
}

}  // namespace
}  // namespace trainyard
