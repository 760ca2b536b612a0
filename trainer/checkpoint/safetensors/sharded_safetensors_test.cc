#include "trainer/checkpoint/safetensors/sharded_safetensors.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "trainer/checkpoint/safetensors/safetensors.h"
#include "trainer/checkpoint/testing/sample_checkpoint.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<NamedTensor> Sample() {
  return {{"a", at::arange(8, at::kFloat)},
          {"b", at::arange(100, at::kByte)},
          {"c", at::arange(4, at::kLong)},
          {"d", at::arange(1, at::kHalf)}};
}

void ExpectSame(const absl::StatusOr<std::vector<NamedTensor>>& read) {
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), 4U);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ((*read)[i].name, Sample()[i].name);
    EXPECT_TRUE(at::equal((*read)[i].tensor, Sample()[i].tensor));
  }
}

TEST(ShardedSafetensorsTest, ComesBackFromFolderIndexAndFile) {
  const std::string folder = TestFolder();
  ASSERT_TRUE(
      WriteShardedSafetensors(folder, Sample(), {.max_shard_bytes = 64}).ok());
  EXPECT_THAT(NamesIn(folder), ElementsAre("model-00001-of-00003.safetensors",
                                           "model-00002-of-00003.safetensors",
                                           "model-00003-of-00003.safetensors",
                                           "model.safetensors.index.json"));
  ExpectSame(ReadShardedSafetensors(folder));
  ExpectSame(ReadShardedSafetensors(folder + "/model.safetensors.index.json"));
  const std::string single = folder + "/single";
  std::filesystem::create_directory(single);
  ASSERT_TRUE(WriteShardedSafetensors(single, Sample()).ok());
  EXPECT_THAT(NamesIn(single), ElementsAre("model.safetensors"));
  ExpectSame(ReadShardedSafetensors(single));
  ExpectSame(ReadShardedSafetensors(single + "/model.safetensors"));
}

TEST(ShardedSafetensorsTest, WhatDoesNotFitItsIndexIsRefused) {
  const std::string folder = TestFolder();
  ASSERT_TRUE(
      WriteShardedSafetensors(folder, Sample(), {.max_shard_bytes = 64}).ok());
  const std::string second = folder + "/model-00002-of-00003.safetensors";
  ASSERT_TRUE(
      WriteSafetensors(second, {{"x", at::arange(3, at::kFloat)}}).ok());
  EXPECT_THAT(std::string(ReadShardedSafetensors(folder).status().message()),
              HasSubstr("has tensor \"x\", which is not in"));
  ASSERT_TRUE(WriteSafetensors(second, {}).ok());
  EXPECT_THAT(std::string(ReadShardedSafetensors(folder).status().message()),
              HasSubstr("lists 4 tensors, of which the files have 3"));
  std::filesystem::remove(second);
  EXPECT_TRUE(absl::IsNotFound(ReadShardedSafetensors(folder).status()));
  std::ofstream(folder + "/model.safetensors.index.json") << "{}";
  EXPECT_TRUE(absl::IsDataLoss(ReadShardedSafetensors(folder).status()));
}

}  // namespace
}  // namespace trainyard
