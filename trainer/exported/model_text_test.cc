#include "trainer/exported/model_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace trainyard {
namespace {

using ::testing::HasSubstr;

constexpr char kGraph[] =
    R"({"inputs":[{"input":"x","dtype":"float32","sizes":[]}],"nodes":[],)"
    R"("outputs":[{"name":"y","value":0}]})";

std::string StateError(const std::string& text) {
  const auto state = ParseStateNames(text);
  return state.ok() ? "accepted" : std::string(state.status().message());
}

TEST(ModelTextTest, ReadsNamesAndGraphs) {
  const auto text = ParseModelText(
      {{"trainyard.exported", "1"},
       {"trainyard.state",
        R"({"parameters":[{"name":"w","trained":false}],)"
        R"("buffers":[{"name":"b","saved":false}],"constants":["c"],)"
        R"("tied":[{"name":"v","to":"w"}]})"},
       {"trainyard.train", kGraph},
       {"trainyard.eval", kGraph}});
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_FALSE(text->state.parameters[0].trained);
  EXPECT_FALSE(text->state.buffers[0].saved);
  EXPECT_EQ(text->state.constants[0], "c");
  EXPECT_EQ(text->state.tied[0].to, "w");
  EXPECT_EQ(text->eval.outputs[0].name, "y");
}

TEST(ModelTextTest, HeaderExample) {
  const struct {
    std::map<std::string, std::string> metadata;
  } header = {{{"trainyard.exported", "1"},
               {"trainyard.state", "{}"},
               {"trainyard.train", "{"}}};
  const auto read = [&]() -> absl::Status {
    const absl::StatusOr<ModelText> text = ParseModelText(header.metadata);
    if (!text.ok()) return text.status();
    return absl::OkStatus();
  };
  EXPECT_THAT(std::string(read().message()), HasSubstr("training graph: byte"));
}

TEST(ModelTextTest, NamesTheGraphThatIsWrong) {
  std::map<std::string, std::string> metadata = {{"trainyard.exported", "1"},
                                                 {"trainyard.state", "{}"},
                                                 {"trainyard.train", kGraph}};
  EXPECT_EQ(ParseModelText(metadata).status().message(),
            "evaluation graph: byte 0: expected an object");
  metadata["trainyard.exported"] = "7";
  EXPECT_THAT(std::string(ParseModelText(metadata).status().message()),
              HasSubstr("version \"7\"; this program reads version 1"));
}

TEST(ModelTextTest, RefusesNamesThatDoNotFit) {
  EXPECT_EQ(StateError(R"({"constants":["c","c"]})"), "\"c\" comes twice");
  EXPECT_EQ(StateError(R"({"constants":["c"],"tied":[{"name":"a","to":"c"}]})"),
            "\"a\" is tied to \"c\", which is not there");
  EXPECT_THAT(StateError(R"({"parameters":[{"name":"w"}]})"),
              HasSubstr("an entry that lacks a key"));
  EXPECT_THAT(StateError(R"({"buffers":[{"name":"w","trained":true}]})"),
              HasSubstr("an unknown key"));
}

}  // namespace
}  // namespace trainyard
