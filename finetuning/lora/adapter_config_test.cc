#include "finetuning/lora/adapter_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(AdapterConfigTest, HeaderExample) {
  const AdapterConfig config = {.rank = 4, .target_modules = {"query"}};
  const absl::StatusOr<AdapterConfig> read = ParseAdapterConfig(ToJson(config));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->rank, 4);
}

TEST(AdapterConfigTest, ParseInvertsToJson) {
  const AdapterConfig config = {.rank = 4,
                                .alpha = 0.1,
                                .rank_stabilized = true,
                                .dropout = 0.05,
                                .target_modules = {"a.b", "c\"d"},
                                .modules_to_save = {"head"}};
  const std::string json = ToJson(config);
  EXPECT_THAT(json, HasSubstr("\"lora_alpha\": 0.1,"));
  EXPECT_THAT(json, HasSubstr("\"target_modules\": [\n    \"a.b\",\n"));
  const absl::StatusOr<AdapterConfig> read = ParseAdapterConfig(json);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->rank, 4);
  EXPECT_EQ(read->alpha, 0.1);
  EXPECT_TRUE(read->rank_stabilized);
  EXPECT_EQ(read->dropout, 0.05);
  EXPECT_THAT(read->modules_to_save, ElementsAre("head"));
}

TEST(AdapterConfigTest, NamesTheUnsupportedSetting) {
  const auto message = [](const std::string& settings) {
    const auto read = ParseAdapterConfig(
        "{\"peft_type\": \"LORA\", \"r\": 2, \"lora_alpha\": 4" + settings +
        "}");
    return read.ok() ? "it was read" : std::string(read.status().message());
  };
  EXPECT_EQ(message(", \"rank_pattern\": {}, \"use_dora\": false, "
                    "\"layer_replication\": null, \"unknown\": [1]"),
            "it was read");
  EXPECT_THAT(message(", \"use_dora\": true"), HasSubstr("use_dora"));
  EXPECT_THAT(message(", \"rank_pattern\": {\"a\": 3}"),
              HasSubstr("rank_pattern"));
  EXPECT_THAT(message(", \"target_parameters\": [\"a\"]"),
              HasSubstr("target_parameters"));
  EXPECT_THAT(message(", \"bias\": \"all\""), HasSubstr("bias"));
  EXPECT_THAT(message(", \"lora_dropout\": 1"), HasSubstr("lora_dropout"));
  EXPECT_FALSE(ParseAdapterConfig("{\"peft_type\": \"LORA\"}").ok());
  EXPECT_FALSE(ParseAdapterConfig("{\"peft_type\": \"IA3\"}").ok());
  EXPECT_FALSE(ParseAdapterConfig("[]").ok());
  EXPECT_FALSE(ParseAdapterConfig("{\"r\": 0}").ok());
}

}  // namespace
}  // namespace trainyard
