// The examples of README.md. tools/lint/examples.py compares them.
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "trainer/checkpoint/optimizer_state.h"
#include "trainer/checkpoint/parts/rng_state.h"
#include "trainer/checkpoint/safetensors/safetensors.h"
#include "trainer/checkpoint/store.h"
#include "trainer/optim/adamw.h"
#include "trainer/optim/param_groups.h"
#include "trainer/testing/modules.h"

namespace trainyard {
namespace {

class ReadmeTest : public ::testing::Test {
 protected:
  // The examples name files without a folder.
  void SetUp() override { std::filesystem::current_path(::testing::TempDir()); }
  TestLinear model{2, 1};
};

TEST_F(ReadmeTest, Checkpoints) {
  AdamW optimizer(*model);
  // clang-format off
auto store = CheckpointStore::Open({.directory = "run", .keep = {.last = 3, .best = 1, .metric = "eval_loss"}});
Checkpoint checkpoint{.step = 12000};
checkpoint.tensors["model"] = NamedParameters(*model);
checkpoint.tensors["optimizer"] = optimizer.NamedTensors();
checkpoint.parts["rng"] = SaveRngState();
absl::Status saved = (*store)->Save(checkpoint);       // durable if OK
absl::StatusOr<Restored> latest = (*store)->Latest();  // verifies every byte, skips damaged checkpoints
  // clang-format on
  ASSERT_TRUE(saved.ok()) << saved;
  ASSERT_TRUE(latest.ok()) << latest.status();
  EXPECT_EQ(latest->checkpoint.step, 12000);
}

TEST_F(ReadmeTest, Weights) {
  // clang-format off
absl::Status written = WriteSafetensors("model.safetensors", NamedParameters(*model));
absl::StatusOr<Safetensors> read = ReadSafetensors("model.safetensors");   // .tensors, .metadata
  // clang-format on
  ASSERT_TRUE(written.ok()) << written;
  ASSERT_TRUE(read.ok()) << read.status();
  for (const NamedTensor& item : read->tensors) {
    EXPECT_TRUE(at::equal(item.tensor, model->named_parameters()[item.name]));
  }
}

TEST_F(ReadmeTest, OptimizerState) {
  AdamW earlier(*model);
  for (const at::Tensor& parameter : model->parameters()) {
    parameter.mutable_grad() = at::ones(parameter.sizes());
  }
  earlier.step();
  ASSERT_TRUE(SaveOptimizerState("optimizer.safetensors", earlier).ok());
  std::ofstream("optimizer.json")
      << R"({"format": "trainyard-optimizer-1", "param_groups": [
             {"params": ["weight", "bias"], "lr": 0.25, "weight_decay": 0}]})";

  // clang-format off
const auto groups = ReadPythonParamGroups("optimizer.json", NamedParameters(*model), {"lr", "weight_decay"});
AdamW optimizer(*groups);
absl::Status loaded = LoadOptimizerState("optimizer.safetensors", optimizer);
// ... train ...
absl::Status saved = SaveOptimizerState("optimizer.safetensors", optimizer);
  // clang-format on
  ASSERT_TRUE(loaded.ok()) << loaded;
  ASSERT_TRUE(saved.ok()) << saved;
  EXPECT_EQ(optimizer.Field(0, "lr"), 0.25);
  for (size_t i = 0; i < earlier.NamedTensors().size(); ++i) {
    EXPECT_EQ(optimizer.NamedTensors()[i].name, earlier.NamedTensors()[i].name);
    EXPECT_TRUE(at::equal(optimizer.NamedTensors()[i].tensor,
                          earlier.NamedTensors()[i].tensor));
  }
}

}  // namespace
}  // namespace trainyard
