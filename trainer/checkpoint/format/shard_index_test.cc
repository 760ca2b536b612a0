#include "trainer/checkpoint/format/shard_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ShardIndexTest, ParseInvertsFormat) {
  ShardIndex index{.total_size = 48};
  index.weight_map = {{"a", ShardName("model", 0, 2)},
                      {"\"\xC3\xA4\"", ShardName("model", 1, 2)}};
  const auto read = ParseShardIndex(FormatShardIndex(index));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->total_size, 48U);
  EXPECT_EQ(read->weight_map, index.weight_map);
  EXPECT_EQ(read->weight_map.at("a"), "model-00001-of-00002.safetensors");
  EXPECT_EQ(ShardName("model", 0, 1), "model.safetensors");
  EXPECT_EQ(ShardIndexName("model"), "model.safetensors.index.json");
}

TEST(ShardIndexTest, ReadsIndexesOfOtherWriters) {
  const auto read = ParseShardIndex(
      R"({"metadata": {"total_size": 1.5e1, "total_parameters": 3},
          "more": [1], "weight_map": {"a": "x.safetensors"}})");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->total_size, 15U);
  EXPECT_EQ(read->weight_map.at("a"), "x.safetensors");
}

TEST(ShardIndexTest, RejectsInvalidIndexes) {
  for (const auto& [json, message] :
       std::vector<std::pair<const char*, const char*>>{
           {"{}", "no weight_map"},
           {"", "byte 0"},
           {R"({"weight_map": {"a": "x", "a": "y"}})", "a tensor comes twice"},
           {R"({"weight_map": {"a": "../x"}})", "no name of a file"},
           {R"({"weight_map": {"a": "/etc/passwd"}})", "no name of a file"},
           {R"({"weight_map": {"a": 1}})", "byte 21"},
           {R"({"weight_map": {}, "weight_map": {}})", "comes twice"},
           {R"({"metadata": {"total_size": -1}, "weight_map": {}})", "no size"},
           {R"({"weight_map": {}} x)", "byte"}}) {
    const absl::Status status = ParseShardIndex(json).status();
    EXPECT_TRUE(absl::IsDataLoss(status)) << json << " " << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message)) << json;
  }
}

TEST(ShardIndexTest, ShardsHaveSimilarSizesAndNoneIsEmpty) {
  EXPECT_THAT(SplitBySize({5, 1, 4, 3, 3}, 2), ElementsAre(0, 1, 1, 1, 0));
  EXPECT_THAT(SplitBySize({0, 0, 0}, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(SplitBySize({}, 1), ElementsAre());
}

}  // namespace
}  // namespace trainyard
