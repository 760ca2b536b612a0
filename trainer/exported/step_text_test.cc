#include "trainer/exported/step_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::map<std::string, std::string> Metadata() {
  return {{"trainyard.step", "1"},
          {"trainyard.torch", "2.13.0"},
          {"trainyard.cpu", "avx avx2"},
          {"trainyard.command", "python export_model.py net.py:make"},
          {"trainyard.inputs",
           R"([{"tensor":"w","dtype":"float32","sizes":[3]},)"
           R"({"input":"x","dtype":"float32","sizes":[{"size":"n"},3]}])"},
          {"trainyard.outputs", R"(["output"])"},
          {"trainyard.gradients", R"(["w"])"},
          {"trainyard.buffers", "[]"}};
}

std::string ErrorOf(const std::string& key, const std::string& value) {
  auto metadata = Metadata();
  metadata["trainyard." + key] = value;
  return std::string(ParseStepText(metadata).status().message());
}

TEST(StepTextTest, ReadsMetadata) {
  const absl::StatusOr<StepText> text = ParseStepText(Metadata());
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(text->torch, "2.13.0");
  EXPECT_THAT(text->cpu, ElementsAre("avx", "avx2"));
  ASSERT_EQ(text->inputs.size(), 2);
  EXPECT_FALSE(text->inputs[0].is_passed);
  EXPECT_EQ(text->inputs[1].sizes[0].name, "n");
  EXPECT_THAT(text->outputs, ElementsAre("output"));
  EXPECT_THAT(text->gradients, ElementsAre("w"));
  EXPECT_THAT(text->buffers, IsEmpty());
}

TEST(StepTextTest, HeaderExample) {
  const auto check =
      [](const std::map<std::string, std::string>& metadata) -> absl::Status {
    const absl::StatusOr<StepText> text = ParseStepText(metadata);
    if (!text.ok()) return text.status();
    return CheckRunsHere(*text, "2.13.0", CpuFeatures());
  };
  EXPECT_FALSE(check({}).ok());
  auto metadata = Metadata();
  metadata["trainyard.cpu"] = "";
  EXPECT_TRUE(check(metadata).ok());
}

TEST(StepTextTest, RefusesOtherMetadata) {
  EXPECT_THAT(std::string(ParseStepText({}).status().message()),
              HasSubstr("is not a compiled step"));
  EXPECT_THAT(ErrorOf("step", "2"), HasSubstr("of version \"2\""));
  EXPECT_THAT(ErrorOf("inputs", "[{}]"), HasSubstr("inputs: byte"));
  EXPECT_THAT(ErrorOf("gradients", "[1]"), HasSubstr("gradients: byte"));
  EXPECT_THAT(ErrorOf("buffers", ""), HasSubstr("buffers: byte"));
}

TEST(StepTextTest, SaysHowToCompileAgain) {
  const StepText text = *ParseStepText(Metadata());
  EXPECT_TRUE(CheckRunsHere(text, "2.13.0", {"avx", "avx2", "bmi1"}).ok());
  EXPECT_THAT(
      std::string(CheckRunsHere(text, "2.14.0", {"avx", "avx2"}).message()),
      HasSubstr("was compiled by PyTorch 2.13.0; this program has libtorch "
                "2.14.0; compile it again on this machine: python "
                "export_model.py net.py:make"));
  EXPECT_THAT(std::string(CheckRunsHere(text, "2.13.0", {"avx"}).message()),
              HasSubstr("for a processor with avx2; this one has none; compile "
                        "it again on this machine: python"));
}

TEST(StepTextTest, KnowsThisProcessor) {
  EXPECT_THAT(CpuFeatures(), Not(IsEmpty()));
}

}  // namespace
}  // namespace trainyard
