// The outputs of an epoch on several ranks are those of one process.
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/make_backend.h"
#include "callbacks/predictions/epoch_outputs.h"
#include "tools/launch/testing/test_rank.h"
#include "trainer/data/batch.h"
#include "trainer/testing/line_rig.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

Backend& Ddp() {
  static const std::unique_ptr<Backend> backend =
      MakeBackend("ddp", {.device = at::Device(TestDevice())});
  return *backend;
}

// Outputs and inputs of every epoch of `set`.
std::vector<std::vector<at::Tensor>> Collected(Backend* backend,
                                               const std::string& set,
                                               int64_t records) {
  std::vector<std::vector<at::Tensor>> epochs;
  LineRig rig(/*lr=*/0.1, backend);
  rig.trainer().Add(EpochOutputs(
      {.set = set,
       .keep =
           [](const AnyBatch& batch, const at::Tensor& outputs) {
             return std::vector{outputs, batch.As<Example>().input};
           },
       .use =
           [&](const std::vector<at::Tensor>& rows) {
             epochs.push_back(rows);
           }}));
  // A global batch of 4, in one process and in two.
  rig.trainer().Train({.data = LinePoints(16),
                       .eval_data = LinePoints(records),
                       .length = Epochs(2),
                       .per_device_batch_size = backend == nullptr ? 4 : 2,
                       .eval_per_device_batch_size = 2});
  return epochs;
}

void ExpectTheSameAsInOneProcess(const std::string& set, int64_t records) {
  const auto one = Collected(nullptr, set, records);
  const auto all = Collected(&Ddp(), set, records);
  ASSERT_EQ(one.size(), 2);
  ASSERT_EQ(all.size(), 2);
  for (size_t epoch = 0; epoch < 2; ++epoch) {
    ASSERT_EQ(all[epoch].size(), 2);
    EXPECT_TRUE(at::allclose(all[epoch][0], one[epoch][0], 1e-5, 1e-6))
        << set << " " << records;
    // The same records in the same order.
    EXPECT_TRUE(at::equal(all[epoch][1], one[epoch][1]))
        << set << " " << records;
  }
}

TEST(EpochOutputsDdpTest, EvaluationIsInTheOrderOfTheDataset) {
  // Some batches are smaller, and ranks may have no record.
  for (const int64_t records : {8, 7, 5, 1}) {
    ExpectTheSameAsInOneProcess("eval", records);
  }
}

TEST(EpochOutputsDdpTest, TrainingIsInTheOrderOfTheSampler) {
  ExpectTheSameAsInOneProcess("train", 8);
}

TEST(EpochOutputsDdpTest, HeaderExample) {
  LineRig rig(/*lr=*/0.1, &Ddp());
  Trainer& trainer = rig.trainer();
  at::Tensor predictions, targets;
  trainer.Add(EpochOutputs(
      {.set = "evaluation",
       .keep =
           [](const AnyBatch& batch, const at::Tensor& outputs) {
             return std::vector{outputs, batch.As<Example>().target};
           },
       .use =
           [&](const std::vector<at::Tensor>& rows) {
             predictions = rows[0];
             targets = rows[1];
           }}));
  trainer.Evaluate(LinePoints(5), 2);
  EXPECT_EQ(predictions.size(0), 5);
  EXPECT_EQ(targets.size(0), 5);
}

TEST(EpochOutputsDdpTest, RejectsMissingOptions) {
  EXPECT_THROW(EpochOutputs({.set = "eval"}), c10::ValueError);
  EXPECT_THROW(
      EpochOutputs({.set = "", .use = [](const std::vector<at::Tensor>&) {}}),
      c10::ValueError);
}

}  // namespace
}  // namespace trainyard
