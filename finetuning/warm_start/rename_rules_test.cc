#include "finetuning/warm_start/rename_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Refusal(const std::vector<std::string>& names,
                    const std::vector<RenameRule>& rules) {
  const auto renamed = Renamed(names, rules);
  return renamed.ok() ? "accepted" : std::string(renamed.status().message());
}

TEST(RenameRulesTest, HeaderExample) {
  const auto names =
      Renamed({"model.encoder.0.weight", "model.head.weight"},
              {{.pattern = R"(^model\.)", .replacement = ""},
               {.pattern = R"(encoder\.(\d+))", .replacement = "layer$1"}});
  EXPECT_THAT(names.value(), ElementsAre("layer0.weight", "head.weight"));
}

TEST(RenameRulesTest, EveryMatchInANameIsReplaced) {
  EXPECT_THAT(Renamed({"a.a.b"}, {{R"(a\.)", "c."}}).value(),
              ElementsAre("c.c.b"));
}

TEST(RenameRulesTest, RejectsARuleThatMatchesNothing) {
  EXPECT_THAT(Refusal({"model.weight", "model.bias"},
                      {{R"(^model\.)", ""}, {R"(^module\.)", ""}}),
              AllOf(HasSubstr("rename rule 2, \"^module\\.\""),
                    HasSubstr("none of the 2 names"), HasSubstr("\"weight\"")));
  EXPECT_THAT(Refusal({}, {{"a", "b"}}), HasSubstr("there are no tensors"));
}

TEST(RenameRulesTest, RejectsAnInvalidRegularExpression) {
  EXPECT_THAT(Refusal({"a"}, {{"(", ""}}), HasSubstr("regular expression"));
}

TEST(RenameRulesTest, RejectsTwoNamesThatBecomeEqual) {
  EXPECT_THAT(Refusal({"a.weight", "b.weight"}, {{R"(^[ab]\.)", ""}}),
              AllOf(HasSubstr("\"a.weight\""), HasSubstr("\"b.weight\"")));
}

TEST(NamesTensorTest, MatchesTensorsAndModules) {
  EXPECT_TRUE(NamesTensor("head", "head.weight"));
  EXPECT_TRUE(NamesTensor("h*d", "head.weight"));
  EXPECT_TRUE(NamesTensor("*.bias", "body.0.bias"));
  EXPECT_TRUE(NamesTensor("body.?", "body.0.bias"));
  EXPECT_FALSE(NamesTensor("head", "heads.weight"));
  EXPECT_FALSE(NamesTensor("body", "head.body"));
}

}  // namespace
}  // namespace trainyard
