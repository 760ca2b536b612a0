#include "tools/cli/option_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/testing/error_of.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

// "name=value name=value".
std::string Read(std::string_view text) {
  std::string line;
  for (const auto& [name, value] : ParseOptionFile(text, "f")) {
    line += (line.empty() ? "" : " ") + name + "=" + value;
  }
  return line;
}

std::string Error(std::string_view text) {
  return ErrorOf([&] { ParseOptionFile(text, "run.txt"); });
}

TEST(OptionFileTest, HeaderExample) {
  const std::vector<FileOption> options =
      ParseOptionFile("lr: 0.01  checkpoint { save: \"1 epoch\" }", "run.txt");
  // {"lr", "0.01"}, {"checkpoint_save", "1 epoch"}
  ASSERT_EQ(options.size(), 2);
  EXPECT_EQ(options[0].name, "lr");
  EXPECT_EQ(options[0].value, "0.01");
  EXPECT_EQ(options[1].name, "checkpoint_save");
  EXPECT_EQ(options[1].value, "1 epoch");
}

TEST(OptionFileTest, ReadsTextProto) {
  EXPECT_EQ(Read(""), "");
  EXPECT_EQ(Read("# nothing\n"), "");
  EXPECT_EQ(Read("a: 1 # one\nb: \"two \\\"x\\\" # y\"\nc: true"),
            "a=1 b=two \"x\" # y c=true");
  EXPECT_EQ(Read("a { b: -1e-3; c { d: x } }, e: [1, \"2\", 3]"),
            "a_b=-1e-3 a_c_d=x e=1,2,3");
  EXPECT_EQ(Read("a: { b: 1 }"), "a_b=1");
}

TEST(OptionFileTest, ReadsJson) {
  EXPECT_EQ(Read("{}"), "");
  EXPECT_EQ(Read(" {\"a\": 1, \"b\": {\"c\": \"x\\ny\", \"d\": [true]}}\n"),
            "a=1 b_c=x\ny b_d=true");
}

TEST(OptionFileTest, NamesTheLineOfAnError) {
  EXPECT_EQ(Error("a: 1\nb 2"),
            "run.txt:2: expected a ':' or a '{' after \"b\"");
  EXPECT_EQ(Error("a: 1\n\na: 2"), "run.txt:3: a is given twice");
  EXPECT_EQ(Error("a_b: 1\na { b: 2 }"), "run.txt:2: a_b is given twice");
  EXPECT_EQ(Error("a:"), "run.txt:1: expected a value");
  EXPECT_EQ(Error("a {"), "run.txt:1: expected the name of an option");
  EXPECT_EQ(Error("a: 1 }"), "run.txt:1: expected the name of an option");
  EXPECT_THAT(Error("a: \"x"), HasSubstr("run.txt:1: "));
  EXPECT_EQ(Error("a: [1 2]"), "run.txt:1: expected a ',' or a ']'");
  EXPECT_EQ(Error("{\"a\": 1 \"b\": 2}"), "run.txt:1: expected a ',' or a '}'");
  EXPECT_EQ(Error("{a: 1}"), "run.txt:1: expected a name in quotes");
  EXPECT_EQ(Error("{\"a\" 1}"), "run.txt:1: expected a ':' after \"a\"");
  EXPECT_EQ(Error("{\"a\": 1,}"), "run.txt:1: expected a name in quotes");
  EXPECT_EQ(Error("{} x"), "run.txt:1: more text follows the last option");
  EXPECT_EQ(Error("a: \xff"), "run.txt:1: the text is not UTF-8");
  std::string deep;
  for (int i = 0; i < 30; ++i) deep += "a {";
  EXPECT_EQ(Error(deep), "run.txt:1: options are nested too deeply");
}

TEST(OptionFileTest, WritesWhatItReads) {
  const std::vector<FileOption> options = {
      {"a", "1"},   {"b", "-0.5e-3"}, {"c", "true"}, {"d", "two words"},
      {"e", ""},    {"f", "007"},     {"g", "1."},   {"h", "\"q\"\n#"},
      {"i", "nan"}, {"j", "0.5"},     {"k", "0"}};
  for (const bool json : {false, true}) {
    const std::string text = FormatOptionFile(options, json);
    const std::vector<FileOption> again = ParseOptionFile(text, "f");
    ASSERT_EQ(again.size(), options.size()) << text;
    for (size_t i = 0; i < options.size(); ++i) {
      EXPECT_EQ(again[i].name, options[i].name);
      EXPECT_EQ(again[i].value, options[i].value);
    }
  }
  EXPECT_EQ(FormatOptionFile({{"lr", "0.1"}, {"name", "x"}}, false),
            "lr: 0.1\nname: \"x\"\n");
  EXPECT_EQ(FormatOptionFile({{"lr", "0.1"}, {"name", "x"}}, true),
            "{\n  \"lr\": 0.1,\n  \"name\": \"x\"\n}\n");
}

}  // namespace
}  // namespace trainyard
