// The examples in the headers of this folder. tools/lint/examples.py compares
// them.
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/optimizer_state.h"
#include "trainer/checkpoint/parts/rng_state.h"
#include "trainer/checkpoint/parts/snapshot.h"
#include "trainer/checkpoint/python_param_groups.h"
#include "trainer/checkpoint/rank_exchange.h"
#include "trainer/checkpoint/state_crc32c.h"
#include "trainer/checkpoint/step_share.h"
#include "trainer/checkpoint/store.h"
#include "trainer/checkpoint/testing/sample_checkpoint.h"
#include "trainer/optim/adamw.h"
#include "trainer/optim/param_groups.h"
#include "trainer/testing/modules.h"

namespace trainyard {
namespace {

class HeaderExamplesTest : public ::testing::Test {
 protected:
  // The examples name files without a folder.
  void SetUp() override { std::filesystem::current_path(TestFolder()); }
  TestLinear model{2, 1};
};

TEST_F(HeaderExamplesTest, Checkpoint) {
  AdamW optimizer(*model);
  Checkpoint checkpoint{.step = 12000};
  checkpoint.tensors["model"] = NamedParameters(*model);
  checkpoint.tensors["optimizer"] = optimizer.NamedTensors();
  checkpoint.parts["rng"] = SaveRngState();
  EXPECT_EQ(checkpoint.tensors["model"].size(), 2);
}

TEST_F(HeaderExamplesTest, OptimizerState) {
  ASSERT_TRUE(SaveOptimizerState("optimizer.safetensors", AdamW(*model)).ok());
  std::ofstream("optimizer.json")
      << R"({"format": "trainyard-optimizer-1", "param_groups": [
             {"params": ["weight", "bias"], "lr": 0.25, "weight_decay": 0}]})";
  const auto groups = ReadPythonParamGroups(
      "optimizer.json", NamedParameters(*model), {"lr", "weight_decay"});
  AdamW optimizer(*groups);
  absl::Status loaded = LoadOptimizerState("optimizer.safetensors", optimizer);
  EXPECT_TRUE(loaded.ok()) << loaded;
  EXPECT_EQ(optimizer.Field(0, "lr"), 0.25);
}

TEST_F(HeaderExamplesTest, PythonParamGroups) {
  const std::string json =
      R"({"format": "trainyard-optimizer-1",
   "param_groups": [{"params": ["w"], "lr": 0.1, "betas": [0.9, 0.999]}]})";
  auto groups = ParsePythonParamGroups(json);
  const double lr = (*groups)[0].fields.at("lr");
  EXPECT_EQ(lr, 0.1);
}

TEST_F(HeaderExamplesTest, RankExchange) {
  RankExchange& ranks = SingleRank();
  absl::StatusOr<std::vector<std::string>> all = ranks.AllGather("my part");
  EXPECT_EQ(*all, std::vector<std::string>{"my part"});
}

TEST_F(HeaderExamplesTest, StateCrc32c) {
  AdamW optimizer(*model);
  uint32_t crc = StateCrc32c(NamedParameters(*model));
  crc = StateCrc32c(optimizer.NamedTensors(), crc);  // of both together
  std::vector<NamedTensor> both = NamedParameters(*model);
  for (const NamedTensor& item : optimizer.NamedTensors()) both.push_back(item);
  EXPECT_EQ(crc, StateCrc32c(both));
}

TEST_F(HeaderExamplesTest, Snapshot) {
  const auto store = CheckpointStore::Open({.directory = "run"}).value();
  const Checkpoint checkpoint = SampleCheckpoint(7);
  Snapshot snapshot;
  absl::Status taken = snapshot.Take(checkpoint);
  absl::Status saved = store->Save(snapshot.checkpoint());
  EXPECT_TRUE(taken.ok()) << taken;
  EXPECT_TRUE(saved.ok()) << saved;
}

TEST_F(HeaderExamplesTest, StepShare) {
  const std::string folder = ".", save_uuid(16, 's');
  const Checkpoint checkpoint = SampleCheckpoint(7);
  StepWriter writer(folder, save_uuid);
  const auto files = WriteShare(checkpoint, {.rank = 0}, writer);
  ASSERT_TRUE(files.ok()) << files.status();
  pb::Manifest manifest;
  manifest.set_format_version(1);
  manifest.set_min_reader_version(1);
  manifest.set_run_uuid(save_uuid);
  manifest.set_save_uuid(save_uuid);
  manifest.set_step(7);
  manifest.set_world_size(1);
  manifest.mutable_files()->Add(files->begin(), files->end());
  ASSERT_TRUE(writer.WriteManifest(manifest).ok());
  const auto opened = StepReader::Open(folder);
  ASSERT_TRUE(opened.ok()) << opened.status();
  const StepReader& reader = *opened;
  absl::StatusOr<Checkpoint> same = ReadStep(reader, /*rank=*/0);
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ(same->tensors.at("model").size(), 5);
}

TEST_F(HeaderExamplesTest, SampleCheckpoint) {
  const Checkpoint loaded = SampleCheckpoint(7);
  const Checkpoint saved = SampleCheckpoint(7);
  EXPECT_EQ(Describe(loaded), Describe(saved));
}

}  // namespace
}  // namespace trainyard
