#include "trainer/io/json_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace trainyard {
namespace {

TEST(JsonWriterTest, HeaderExample) {
  JsonWriter json(JsonWriter::Layout::kLines);
  json.BeginObject();
  json.Key("loss").Number(0.5);
  json.Key("names").BeginArray();
  json.String("say \"ä\"");
  json.EndArray();
  json.EndObject();
  const std::string text = json.text();
  EXPECT_EQ(text,
            "{\n  \"loss\": 0.5,\n  \"names\": [\n    \"say \\\"ä\\\"\"\n  "
            "]\n}");
}

// Every kind of value, nested and empty.
void WriteAll(JsonWriter& json) {
  json.BeginObject();
  json.Key("a").BeginArray();
  json.Int(std::numeric_limits<int64_t>::min());
  json.Bool(true);
  json.Bool(false);
  json.Null();
  json.BeginObject();
  json.EndObject();
  json.BeginArray();
  json.EndArray();
  json.EndArray();
  json.Key("b").Raw("[1]");
  json.EndObject();
}

TEST(JsonWriterTest, CompactHasNoWhiteSpace) {
  JsonWriter json;
  WriteAll(json);
  EXPECT_EQ(json.text(),
            "{\"a\":[-9223372036854775808,true,false,null,{},[]],\"b\":[1]}");
}

TEST(JsonWriterTest, LinesAreIndentedByTwoSpacesPerLevel) {
  JsonWriter json(JsonWriter::Layout::kLines);
  WriteAll(json);
  EXPECT_EQ(json.text(), R"({
  "a": [
    -9223372036854775808,
    true,
    false,
    null,
    {},
    []
  ],
  "b": [1]
})");
}

TEST(JsonWriterTest, NumbersReadBackAsTheSameDouble) {
  JsonWriter json;
  json.BeginArray();
  for (const double value : {0.1 + 0.2, 8.0, 1e300, -0.0}) json.Number(value);
  json.Number(NAN);
  json.Number(-INFINITY);
  json.EndArray();
  EXPECT_EQ(json.text(), "[0.30000000000000004,8,1e+300,-0,null,null]");
}

TEST(JsonWriterTest, KeysAndStringsAreEscaped) {
  JsonWriter json;
  json.BeginObject();
  json.Key("a\"\n").String("\\");
  json.Key("\xff").String("\xc3");
  json.EndObject();
  EXPECT_EQ(json.text(),
            "{\"a\\\"\\n\":\"\\\\\",\"(not UTF-8)\":\"(not UTF-8)\"}");
}

TEST(JsonWriterTest, ClearStartsAgain) {
  JsonWriter json;
  json.BeginObject();
  json.Key("cut");
  json.Clear();
  json.Int(1);
  EXPECT_EQ(json.text(), "1");
}

}  // namespace
}  // namespace trainyard
