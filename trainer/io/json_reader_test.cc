#include "trainer/io/json_reader.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace trainyard {
namespace {

std::string SkipError(std::string_view text) {
  JsonReader json(text);
  const bool skipped = json.Skip() && json.End();
  EXPECT_EQ(skipped, json.ok());
  return std::string(json.status().message());
}

TEST(JsonReaderTest, ReadsEveryKindOfValue) {
  JsonReader json(
      " [ 18446744073709551615 , -1.5e-3,\"a\\n\",true,false,null,{ } , "
      "[]\t]\r\n");
  uint64_t whole = 0;
  double number = 0;
  std::string text;
  std::string key;
  bool yes = false;
  bool no = true;
  EXPECT_TRUE(json.BeginArray());
  EXPECT_TRUE(json.NextItem() && json.ReadUint64(whole));
  EXPECT_TRUE(json.NextItem() && json.ReadDouble(number));
  EXPECT_TRUE(json.NextItem() && json.ReadString(text));
  EXPECT_TRUE(json.NextItem() && json.ReadBool(yes));
  EXPECT_TRUE(json.NextItem() && json.ReadBool(no));
  EXPECT_TRUE(json.NextItem() && json.Peek() == 'n' && json.ReadNull());
  EXPECT_TRUE(json.NextItem() && json.BeginObject());
  EXPECT_FALSE(json.NextKey(key));
  EXPECT_TRUE(json.NextItem() && json.BeginArray());
  EXPECT_FALSE(json.NextItem());
  EXPECT_FALSE(json.NextItem());
  EXPECT_TRUE(json.End()) << json.status();
  EXPECT_EQ(whole, UINT64_MAX);
  EXPECT_EQ(number, -1.5e-3);
  EXPECT_EQ(text, "a\n");
  EXPECT_TRUE(yes);
  EXPECT_FALSE(no);
}

TEST(JsonReaderTest, SkipsValuesOfEveryKind) {
  for (const std::string_view text :
       {"0", "-0", "-0.0", "1e5", "1E+5", "1e-999", "10.25e-2", "\"\"", "null",
        "{}", "[]", "[1,2]", R"({"a":{"b":[{}]},"a":[[],[[]]]})", " [ ] "}) {
    EXPECT_EQ(SkipError(text), "") << text;
  }
}

struct Case {
  std::string_view text;
  std::string_view error;
};

TEST(JsonReaderTest, ErrorsNameTheProblemAndItsPosition) {
  for (const auto& [text, error] : {
           Case{"", "byte 0: expected a number"},
           Case{"01", "byte 1: unexpected text after the end"},
           Case{"+1", "byte 0: expected a number"},
           Case{"-", "byte 0: expected a number"},
           Case{".5", "byte 0: expected a number"},
           Case{"1.", "byte 0: a number ends in '.'"},
           Case{"1.e5", "byte 0: a number ends in '.'"},
           Case{"1e", "byte 0: a number without its exponent"},
           Case{"1e+", "byte 0: a number without its exponent"},
           Case{"[1e999]", "byte 1: a number that is too large"},
           Case{"NaN", "byte 0: expected a number"},
           Case{"nul", "byte 0: expected a value"},
           Case{"[1,]", "byte 3: expected a number"},
           Case{"[,1]", "byte 1: expected a number"},
           Case{"[1 2]", "byte 3: expected a ',' or the end"},
           Case{"[1", "byte 2: expected a ',' or the end"},
           Case{"[", "byte 1: expected a number"},
           Case{"[}", "byte 1: expected a number"},
           Case{"[1}", "byte 2: expected a ',' or the end"},
           Case{"{", "byte 1: expected a key in quotes"},
           Case{"{]", "byte 1: expected a key in quotes"},
           Case{"{1:2}", "byte 1: expected a key in quotes"},
           Case{R"({"a")", "byte 4: expected a ':' after the key"},
           Case{R"({"a" 1})", "byte 5: expected a ':' after the key"},
           Case{R"({"a":})", "byte 5: expected a number"},
           Case{R"({"a":1,})", "byte 7: expected a key in quotes"},
           Case{R"({"a":1 "b":2})", "byte 7: expected a ',' or the end"},
           Case{R"(["a)", "byte 3: a string without end"},
           Case{"[\"a\nb\"]", "byte 3: a control character in a string"},
           Case{"{} {}", "byte 3: unexpected text after the end"},
           Case{"[1] // one", "byte 4: unexpected text after the end"},
           Case{"\xEF\xBB\xBF{}", "byte 0: expected a number"},
           Case{"[\"\xFF\"]", "byte 2: not UTF-8"},
           Case{std::string_view("{}\0", 3),
                "byte 2: unexpected text after the end"},
       }) {
    EXPECT_EQ(SkipError(text), error) << text;
  }
}

TEST(JsonReaderTest, LimitsDepth) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(SkipError(nested(127)), "");
  EXPECT_EQ(SkipError(nested(128)), "byte 127: nested too deeply");
  EXPECT_EQ(SkipError(std::string(1000000, '[')),
            "byte 127: nested too deeply");
}

TEST(JsonReaderTest, WholeNumbersHaveNoSignPointOrExponent) {
  for (const auto& [text, error] : {
           Case{"-1", "byte 0: expected a whole number of at least 0"},
           Case{"-0", "byte 0: expected a whole number of at least 0"},
           Case{"1.0", "byte 0: expected a whole number of at least 0"},
           Case{"1e2", "byte 0: expected a whole number of at least 0"},
           Case{"18446744073709551616",
                "byte 0: a number of more than 64 bits"},
           Case{"\"1\"", "byte 0: expected a number"},
       }) {
    JsonReader json(text);
    uint64_t value = 0;
    EXPECT_FALSE(json.ReadUint64(value)) << text;
    EXPECT_EQ(json.status().message(), absl::string_view(error.data())) << text;
  }
}

TEST(JsonReaderTest, WholeNumbersMayHaveASign) {
  for (const auto& [text, expected] :
       {std::pair("-9223372036854775808", INT64_MIN),
        std::pair("9223372036854775807", INT64_MAX),
        std::pair("-1", int64_t{-1})}) {
    JsonReader json(text);
    int64_t value = 0;
    EXPECT_TRUE(json.ReadInt64(value)) << text;
    EXPECT_EQ(value, expected);
  }
  for (const auto& [text, error] : {
           Case{"1.0", "byte 0: expected a whole number"},
           Case{"9223372036854775808", "byte 0: a number of more than 64 bits"},
       }) {
    JsonReader json(text);
    int64_t value = 0;
    EXPECT_FALSE(json.ReadInt64(value)) << text;
    EXPECT_EQ(json.status().message(), absl::string_view(error.data())) << text;
  }
}

TEST(JsonReaderTest, KeepsTheFirstError) {
  JsonReader json("[true, 1]");
  std::string text;
  bool value = false;
  EXPECT_TRUE(json.BeginArray() && json.NextItem());
  EXPECT_FALSE(json.ReadString(text));
  EXPECT_FALSE(json.ReadBool(value));
  EXPECT_FALSE(json.NextItem());
  EXPECT_FALSE(json.End());
  EXPECT_FALSE(json.Fail("later"));
  EXPECT_EQ(json.status().message(), "byte 1: expected a string");
}

TEST(JsonReaderTest, TheCallerCanSetAnErrorAtAValue) {
  JsonReader json(R"({"a": 7})");
  std::string key;
  uint64_t value = 0;
  EXPECT_TRUE(json.BeginObject() && json.NextKey(key) &&
              json.ReadUint64(value));
  EXPECT_FALSE(json.Fail("seven is too much"));
  EXPECT_EQ(json.status().message(), "byte 6: seven is too much");
}

}  // namespace
}  // namespace trainyard
